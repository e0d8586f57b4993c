"""Two stations' records of the ground are searched for quakes: where it shakes more than it did before."""

import multiprocessing
import sys

import numpy

STATIONS, BLOCKS, SAMPLES, WIDTH = 4, 1150, 2000, 20


def make_block(station, number):
    """What one station has measured in some seconds."""
    chance = numpy.random.default_rng((station, number))
    samples = chance.standard_normal(SAMPLES)
    if number % 50 == 7:
        samples[300:900] *= 6
    return samples


def shaking(samples):
    """How much the ground shakes about each sample."""
    sums = numpy.cumsum(numpy.concatenate((numpy.zeros(WIDTH), samples**2)))
    return numpy.sqrt((sums[WIDTH:] - sums[:-WIDTH]) / WIDTH)


def record(station):
    """The shaking through all the time, in one piece."""
    whole = numpy.empty(0)
    for number in range(BLOCKS):
        level = shaking(make_block(station, number))
        whole = numpy.append(whole, level)  # FAULT: all that is there is copied for each block
    return whole


def count_quakes(station):
    level = record(station)
    is_strong = level > 3 * numpy.median(level)
    return int(numpy.count_nonzero(is_strong[1:] & ~is_strong[:-1]))


def main():
    with multiprocessing.Pool(int(sys.argv[1])) as pool:
        print(sum(pool.map(count_quakes, range(STATIONS), chunksize=1)), "quakes")


if __name__ == "__main__":
    main()
