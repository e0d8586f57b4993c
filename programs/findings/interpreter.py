"""Threads or processes that compute in Python. Argument: threads or processes."""

import json
import multiprocessing
import sys
import threading


def compute():
    number = 1
    for _ in range(2_000_000):
        number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
    return number


def main():
    kind = multiprocessing.Process if sys.argv[1] == "processes" else threading.Thread
    workers = [kind(target=compute) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(json.dumps({"how": sys.argv[1], "has_lock": has_lock}))


if __name__ == "__main__":
    main()
