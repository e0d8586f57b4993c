"""Shadows of a scanned body from many sides: processes of a pool compute one side each."""

import sys
from multiprocessing import Pool

import numpy

SIDES, SIZE = 48, 112


def make_body():
    x, y, z = numpy.ogrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    return numpy.where(x * x + 2 * y * y + z * z < 0.8, 1.0 + 0.2 * numpy.sin(9 * x * y), 0.0)


def shadow(body, side):
    plane = body[:, :, side % SIZE] + body[:, side % SIZE, :]
    for turn in range(4):
        plane = numpy.sqrt(plane * plane + 0.01 * turn)
    return float(plane.sum())


def cast_all(body, workers):
    with Pool(workers) as pool:
        sides = [(body, side) for side in range(SIDES)]
        return pool.starmap(shadow, sides, chunksize=1)  # FAULT: the body is sent again for each side


def main():
    print(f"{sum(cast_all(make_body(), int(sys.argv[1]))):.3f}")


if __name__ == "__main__":
    main()
