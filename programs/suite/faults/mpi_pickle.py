"""Points are drawn to where the others are dense; each rank moves its own by a map of all."""

import numpy
from mpi4py import MPI

POINTS, CELLS, STEPS = 40_000, 128, 26


def make_points(rank):
    return numpy.random.default_rng(5 + rank).random((POINTS, 2))


def all_points(world, own):
    parts = world.allgather(own.tolist())  # FAULT: lists of numbers are pickled and made arrays again
    return numpy.array([point for part in parts for point in part])


def density(points):
    """How many points there are in each cell, smoothed."""
    counts, _, _ = numpy.histogram2d(points[:, 0], points[:, 1], bins=CELLS, range=[[0, 1], [0, 1]])
    wave = numpy.fft.rfft2(counts)
    north, east = numpy.fft.fftfreq(CELLS)[:, None], numpy.fft.rfftfreq(CELLS)[None, :]
    return numpy.fft.irfft2(wave * numpy.exp(-80 * (north**2 + east**2)), s=counts.shape)


def move(own, map_of_all):
    slope = numpy.stack(numpy.gradient(map_of_all), axis=-1)
    cell = (own * CELLS).astype(int) % CELLS
    return (own + 0.001 * numpy.tanh(slope[cell[:, 0], cell[:, 1]])) % 1.0


def main():
    world = MPI.COMM_WORLD
    own = make_points(world.rank)
    for _ in range(STEPS):
        own = move(own, density(all_points(world, own)))
    total = world.reduce(float(own.sum()), root=0)
    if world.rank == 0:
        print(f"{total:.6f}")


main()
