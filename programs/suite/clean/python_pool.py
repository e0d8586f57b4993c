"""Processes of Python's own pool that each take an even share of the same kind of work."""

import multiprocessing
import sys


def digits(seed):
    value = 0
    for number in range(seed, seed + 250000):
        value = (value * 31 + number * number) % 1000003
    return value


if __name__ == "__main__":
    workers, jobs = int(sys.argv[1]), int(sys.argv[2])
    with multiprocessing.Pool(workers) as pool:
        print(sum(pool.map(digits, range(jobs), chunksize=max(1, jobs // (8 * workers)))))
