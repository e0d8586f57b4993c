"""Measured values are handed to processes, which count how many there are of each kind."""

import multiprocessing
import sys
from collections import Counter

VALUES = 130_000


def values():
    state = 12345
    for _ in range(VALUES):
        state = (state * 1103515245 + 12345) % 2147483648
        yield state % 1000


def kind_of(value):
    return "low" if value < 300 else "high" if value > 800 else "normal"


def classify(incoming, outgoing):
    kinds = Counter()
    value = incoming.get()
    while value is not None:
        kinds[kind_of(value)] += 1
        value = incoming.get()
    outgoing.put(kinds)


def hand_out(incoming, workers):
    for value in values():
        incoming.put(value)  # FAULT: each number is pickled and sent through a pipe alone
    for _ in range(workers):
        incoming.put(None)


def main():
    workers = int(sys.argv[1])
    incoming, outgoing = multiprocessing.Queue(1000), multiprocessing.Queue()
    processes = [multiprocessing.Process(target=classify, args=(incoming, outgoing)) for _ in range(workers)]
    for process in processes:
        process.start()
    hand_out(incoming, workers)
    total = Counter()
    for _ in processes:
        total += outgoing.get()
    for process in processes:
        process.join()
    print(sorted(total.items()))


if __name__ == "__main__":
    main()
