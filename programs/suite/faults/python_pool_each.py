"""Requests of a few parts each are answered one after the other; their parts are computed side by side."""

import multiprocessing
import sys


def compute(part):
    value = part
    for step in range(60_000):
        value = (value * 31 + step) % 1000003
    return value


def answer(request, processes):
    parts = [request * 2 * processes + number for number in range(2 * processes)]
    with multiprocessing.Pool(processes) as pool:  # FAULT: new processes for each request
        return sum(pool.map(compute, parts, chunksize=1))


def main():
    processes, requests = int(sys.argv[1]), int(sys.argv[2])
    print(sum(answer(request, processes) for request in range(requests)))


if __name__ == "__main__":
    main()
