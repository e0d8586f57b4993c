"""Processes classify samples, and count in common how many there are of each class."""

import multiprocessing
import sys

CLASSES = 8


def classify(sample):
    value = sample
    for step in range(30):
        value = (value * 31 + step) % 1000003
    return value % CLASSES


def count_classes(counts, first, last):
    for sample in range(first, last):
        kind = classify(sample)
        with counts.get_lock():  # FAULT: all processes want the lock for each sample
            counts[kind] += 1


def main():
    workers, samples = int(sys.argv[1]), int(sys.argv[2]) * 4500
    counts = multiprocessing.Array("q", CLASSES)
    bounds = [samples * worker // workers for worker in range(workers + 1)]
    team = [
        multiprocessing.Process(target=count_classes, args=(counts, first, last))
        for first, last in zip(bounds, bounds[1:])
    ]
    for process in team:
        process.start()
    for process in team:
        process.join()
    print(list(counts))


if __name__ == "__main__":
    main()
