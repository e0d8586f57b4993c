"""Processes of Python's own pool that get one tiny job at a time: most goes into sending it to and fro."""

import multiprocessing
import sys


def score(number):
    value = number
    for step in range(60):
        value = (value * 31 + step) % 1000003
    return value


def total_of(pool, jobs):
    return sum(pool.imap(score, range(jobs), chunksize=1))  # FAULT: each number is sent alone


if __name__ == "__main__":
    workers, jobs = int(sys.argv[1]), int(sys.argv[2]) * 800
    with multiprocessing.Pool(workers) as pool:
        print(total_of(pool, jobs))
