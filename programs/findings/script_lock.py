"""Two threads of which each waits for a moment again and again: `within` a lock of the script, or `outside`
of it. Prints what they lost by their own clocks."""
import json
import sys
import threading
import time

ROUNDS = 100
lock = threading.Lock()
lost_s = [0.0, 0.0]


def pause_locked(thread):
    since = time.monotonic()
    with lock:
        lost_s[thread] += time.monotonic() - since
        time.sleep(0.003)


def pause(_):
    with lock:
        pass
    time.sleep(0.003)


def work(thread, how):
    for _ in range(ROUNDS):
        how(thread)


def main():
    how = {"within": pause_locked, "outside": pause}[sys.argv[1]]
    threads = [threading.Thread(target=work, args=(thread, how)) for thread in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"program": "script_lock", "lost_s": sum(lost_s)}))


main()
