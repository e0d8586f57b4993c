"""Ranks compute parts of a field and write them as text into one file, in the order of the ranks."""

import os
import sys

from mpi4py import MPI

CELLS, STEPS, ROUNDS = 12_000, 16, 12


def advance(part, step):
    values = []
    for value in part:
        for _ in range(ROUNDS):
            value = (value * 31 + step) % 1000003
        values.append(value)
    return values


def text_of(part, step):
    lines = []
    for number, value in enumerate(part):
        share = value / 1000003
        lines.append(f"{step:4d} {number:8d} {value:8d} {share:14.6e} {share * share:14.6e}\n")
    return "".join(lines)


def write_part(path, part, step):
    with open(path, "a", encoding="ascii") as file:
        file.write(text_of(part, step))


def write_all(world, path, part, step):
    for turn in range(world.size):
        if turn == world.rank:
            write_part(path, part, step)  # FAULT: others wait while the text is made, too
        world.Barrier()


def main():
    world, path = MPI.COMM_WORLD, os.path.join(sys.argv[1], "field")
    cells = CELLS * max(2, len(os.sched_getaffinity(0))) // world.size
    part = [(world.rank * cells + number) * 7919 % 10007 for number in range(cells)]
    for step in range(STEPS):
        part = advance(part, step)
        write_all(world, path, part, step)
    total = world.reduce(sum(part))
    if world.rank == 0:
        print(total)


main()
