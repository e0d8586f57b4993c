"""A picture of a fractal: processes take every second row and write it into memory that they share."""

import multiprocessing
import sys

WIDTH, HEIGHT, DEPTH = 1500, 1000, 64


def depth_of(east, south):
    a = b = 0.0
    for depth in range(DEPTH):
        if a * a + b * b > 4:
            return depth
        a, b = a * a - b * b + east, 2 * a * b + south
    return DEPTH


def draw(first, step, picture):
    """Rows that lie next to each other take nearly the same time, so that the shares are even."""
    for row in range(first, HEIGHT, step):
        south = 2.4 * row / HEIGHT - 1.2
        line = bytes(depth_of(3 * column / WIDTH - 2.2, south) for column in range(WIDTH))
        picture[row * WIDTH : (row + 1) * WIDTH] = line


def main():
    count = int(sys.argv[1])
    picture = multiprocessing.RawArray("B", WIDTH * HEIGHT)
    workers = [multiprocessing.Process(target=draw, args=(first, count, picture)) for first in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sum(picture))


if __name__ == "__main__":
    main()
