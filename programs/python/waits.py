"""Waits of each kind, of a known length: prints `KIND SECONDS` by its own clock."""

import queue
import threading
import time

LONG = 0.3


def timed(kind, wait, *rest):
    began = time.monotonic()
    wait(*rest)
    print(kind, "%.6f" % (time.monotonic() - began), flush=True)


def later(act):
    def run():
        time.sleep(LONG)
        act()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def for_a_lock():
    lock = threading.Lock()
    held = threading.Event()

    def holder():
        with lock:
            held.set()
            time.sleep(LONG)

    thread = threading.Thread(target=holder)
    thread.start()
    held.wait()
    timed("lock", take, lock)
    thread.join()


def take(lock):
    with lock:
        pass


def for_a_condition():
    event = threading.Event()
    thread = later(event.set)
    timed("condition", event.wait)
    thread.join()


def for_a_queue():
    items = queue.Queue()
    thread = later(lambda: items.put(1))
    timed("queue", items.get)
    thread.join()


def for_a_barrier():
    barrier = threading.Barrier(2)
    thread = later(barrier.wait)
    timed("barrier", barrier.wait)
    thread.join()


def for_a_thread():
    thread = later(lambda: None)
    timed("join", thread.join)


for_a_lock()
for_a_condition()
for_a_queue()
for_a_barrier()
for_a_thread()
