"""Heights of waves: processes of a pool compute seas, of which the highest place of each is wanted."""

import multiprocessing
import sys

import numpy

ROWS, COLUMNS = 1000, 1400


def sea(number):
    """Waves of three lengths that cross each other."""
    row, column = numpy.ogrid[0:ROWS, 0:COLUMNS]
    height = numpy.sin(0.01 * row + 0.1 * number) * numpy.cos(0.02 * column)
    for wave in (1, 2, 3):
        height += numpy.sin(0.003 * wave * row) * (column * (number + wave) % 97) / 97
    return height


def highest_places(pool, seas):
    highest = []
    for height in pool.imap(sea, range(seas)):  # FAULT: eleven megabytes come back, and one number is used
        highest.append(float(height.max()))
    return highest


def main():
    count, seas = int(sys.argv[1]), int(sys.argv[2])
    with multiprocessing.Pool(count) as pool:
        print(f"{max(highest_places(pool, seas)):.9f}")


if __name__ == "__main__":
    main()
