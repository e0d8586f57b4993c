"""Options are valued by paths of prices that chance makes, in batches that the processes of a pool take.

A batch is some tens of milliseconds of NumPy; a number is sent to a process, and two come back.
"""

import multiprocessing
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy

PATHS, DAYS, START, LIMIT = 9_000, 250, 100.0, 104.0


def value_batch(number):
    chance = numpy.random.default_rng(number)
    prices = numpy.full(PATHS, START)
    highest = prices.copy()
    for _ in range(DAYS):
        prices *= numpy.exp(0.0001 + 0.012 * chance.standard_normal(PATHS))
        numpy.maximum(highest, prices, out=highest)
    worth = numpy.maximum(prices - LIMIT, 0)
    return float(worth.sum()), int(numpy.count_nonzero(highest > LIMIT))


def main():
    count, batches = int(sys.argv[1]), int(sys.argv[2])
    worth, above = 0.0, 0
    with multiprocessing.Pool(count) as pool:
        for one_worth, one_above in pool.imap(value_batch, range(batches), chunksize=2):
            worth += one_worth
            above += one_above
    print(f"{worth / PATHS / batches:.6f} {above / PATHS / batches:.6f}")


if __name__ == "__main__":
    main()
