"""Ranks advance a field in parts; after each step the first rank smooths the whole field for all of them."""

import os

from mpi4py import MPI

CELLS, STEPS = 30_000, 40


def advance(part, step):
    values = []
    for value in part:
        for _ in range(6):
            value = (value * 31 + step) % 1000003
        values.append(value)
    return values


def smooth(field):
    values = []
    for left, value in zip([field[-1], *field], field):
        for weight in range(3):
            value = (value * 3 + left + weight) // 4
        values.append(value)
    return values


def smooth_all(world, part):
    parts = world.gather(part)
    if world.rank == 0:
        size = len(parts[0])
        field = smooth([value for each in parts for value in each])  # FAULT: the other ranks wait for this
        parts = [field[at : at + size] for at in range(0, len(field), size)]
    return world.scatter(parts)


def main():
    world = MPI.COMM_WORLD
    cells = CELLS * max(2, len(os.sched_getaffinity(0))) // world.size
    part = [(world.rank * cells + number) * 7919 % 10007 for number in range(cells)]
    for step in range(STEPS):
        part = smooth_all(world, advance(part, step))
    total = world.reduce(sum(part))
    if world.rank == 0:
        print(total)


main()
