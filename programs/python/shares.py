"""Functions of several kinds with known shares of the processor time: prints what each took by its own clock.

Each burns the time that it is given, by the thread's processor time, and prints `NAME SECONDS`.
"""

import sys
import threading
import time

SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0


def burn(seconds):
    began = time.thread_time()
    end = began + seconds * SCALE
    number = 0
    while time.thread_time() < end:
        for i in range(200):
            number += i * i
    return time.thread_time() - began


def report(name, seconds):
    print(name, "%.6f" % seconds, flush=True)


def heavy():
    return burn(0.6)


def light():
    return burn(0.2)


class Solver:
    def step(self):
        # Evaluated without a call in between where the interpreter can.
        return self.inner(lambda: burn(0.4))

    def inner(self, what):
        return what()


def numbers():
    for _ in range(4):
        yield burn(0.05)


def by_key(number):
    # Called by a function in C.
    by_key.seconds += burn(0.05)
    return -number


by_key.seconds = 0.0


def recursive(depth):
    if depth == 0:
        return burn(0.2)
    return recursive(depth - 1)


def evaluated():
    # Code that is made and freed again and again: its memory is used by the next one.
    seconds = 0.0
    for name in ["first", "second"] * 4:
        space = {"burn": burn}
        exec(compile("def %s():\n    return burn(0.025)\n" % name, "<made %s>" % name, "exec"), space)
        seconds += space[name]()
    return seconds


def worker():
    report("worker", burn(0.3))


def main():
    report("heavy", heavy())
    report("light", light())
    report("step", Solver().step())
    report("numbers", sum(numbers()))
    sorted(range(4), key=by_key)
    report("by_key", by_key.seconds)
    report("recursive", recursive(200))
    report("evaluated", evaluated())
    thread = threading.Thread(target=worker)
    thread.start()
    thread.join()


main()
