"""Threads of Python whose work is done by NumPy, which does not hold the interpreter's lock meanwhile."""

import concurrent.futures
import sys

import numpy


def transform(seed):
    values = numpy.linspace(0.1, 1.0, 400_000) + seed
    for _ in range(6):
        values = numpy.sqrt(numpy.exp(numpy.sin(values)))
    return float(values.sum())


workers, jobs = int(sys.argv[1]), int(sys.argv[2])
with concurrent.futures.ThreadPoolExecutor(workers) as pool:
    print(f"{sum(pool.map(transform, range(jobs))):.4f}")
