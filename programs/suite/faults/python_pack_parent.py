"""Pictures of a fractal are computed by the processes of a pool, and go into a file compressed."""

import multiprocessing
import sys
import zlib

import numpy

WIDTH, HEIGHT, ROUNDS = 480, 360, 7


def picture(number):
    """How near each place comes to a few others in some rounds of a map that folds the plane."""
    east, south = numpy.meshgrid(numpy.linspace(-2, 2, WIDTH), numpy.linspace(-1.5, 1.5, HEIGHT))
    place = east + 1j * south
    nearest = numpy.full(place.shape, 9.0)
    for _ in range(ROUNDS):
        place = place * place + (0.3 + 0.002 * number) * 1j
        place /= numpy.maximum(1, numpy.abs(place) / 2)
        nearest = numpy.minimum(nearest, numpy.abs(place.real))
    return (nearest * 60000).astype(numpy.uint32).tobytes()


def write_all(pool, pictures, file):
    size = 0
    for pixels in pool.imap(picture, range(pictures)):
        packed = zlib.compress(pixels, 6)  # FAULT: the parent packs alone what all others compute
        file.write(packed)
        size += len(packed)
    return size


def main():
    count, pictures, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with multiprocessing.Pool(count) as pool, open(path, "wb") as file:
        size = write_all(pool, pictures, file)
    print("packed" if size else "empty")


if __name__ == "__main__":
    main()
