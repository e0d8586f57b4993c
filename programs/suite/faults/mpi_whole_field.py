"""Smoke drifts over a map: each rank has some of its rows and needs the next rows of its neighbours."""

import numpy
from mpi4py import MPI

ROWS, COLUMNS, STEPS = 1536, 1024, 260


def make_part(rank, rows):
    return numpy.random.default_rng(11 + rank).random((rows, COLUMNS))


def with_edges(world, own, whole):
    """The own rows, and one above and one below them; the map is a ring."""
    world.Allgather(own, whole)  # FAULT: all ranks get the whole map, and need two rows of it
    first = world.rank * len(own)
    wanted = numpy.arange(first - 1, first + len(own) + 1) % ROWS
    return whole[wanted[0]], whole[wanted[-1]]


def drift(own, above, below):
    new = 0.96 * own
    new[1:] += 0.02 * own[:-1]
    new[:-1] += 0.02 * own[1:]
    new[0] += 0.02 * above
    new[-1] += 0.02 * below
    return new


def main():
    world = MPI.COMM_WORLD
    own = make_part(world.rank, ROWS // world.size)
    whole = numpy.empty((ROWS, COLUMNS))
    for _ in range(STEPS):
        above, below = with_edges(world, own, whole)
        own = drift(own, above, below)
    total = world.reduce(float(own.sum()), root=0)
    if world.rank == 0:
        print(f"{total:.6f}")


main()
