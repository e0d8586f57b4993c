"""Tiles of a picture of the Julia set are drawn by the processes of a pool, and counted by brightness."""

import collections
import multiprocessing
import sys

TILES, SIDE, MOST = 7, 112, 60


def brightness(real, imaginary):
    value = complex(real, imaginary)
    for step in range(MOST):
        if abs(value) > 2:
            return step
        value = value * value + complex(-0.7, 0.27)
    return MOST


def draw(row, column):
    counts = collections.Counter()
    for y in range(SIDE):
        for x in range(SIDE):
            real = ((column * SIDE + x) / (TILES * SIDE) - 0.5) * 3
            imaginary = ((row * SIDE + y) / (TILES * SIDE) - 0.5) * 2
            counts[brightness(real, imaginary)] += 1
    return counts


def draw_all(pool):
    total = collections.Counter()
    for row in range(TILES):
        for column in range(TILES):
            total += pool.apply(draw, (row, column))  # FAULT: waits for each tile before it asks for the next
    return total


def main():
    with multiprocessing.Pool(int(sys.argv[1])) as pool:
        total = draw_all(pool)
    print(sum(total.values()), total[MOST], total[7])


if __name__ == "__main__":
    main()
