"""Places of a register are compared by ranks: each looks for the neighbours of its part of them."""

import json
import sys

from mpi4py import MPI


def read_places(path, limit):
    places = []
    with open(path) as file:
        for number, line in enumerate(file):
            if number == limit:
                break
            places.append(json.loads(line)["place"]["at"])  # FAULT: one rank parses all, and the others wait
    return places


def count_crowded(part, grid):
    crowded = 0
    for x, y in part:
        crowded += grid.get((x // 40, y // 40), 0) > grid.get((x // 40 + 1, y // 40), 0)
    return crowded


def fill_grid(part):
    grid = {}
    for x, y in part:
        grid[x // 40, y // 40] = grid.get((x // 40, y // 40), 0) + 1
    return grid


def compare(world, places):
    parts = [places[rank :: world.size] for rank in range(world.size)] if world.rank == 0 else None
    part = world.scatter(parts)
    grid = {}
    for other in world.allgather(fill_grid(part)):
        for cell, count in other.items():
            grid[cell] = grid.get(cell, 0) + count
    return world.reduce(count_crowded(part, grid))


def main():
    world = MPI.COMM_WORLD
    for year in range(3):
        places = read_places(sys.argv[1], 100_000 + 10_000 * year) if world.rank == 0 else None
        crowded = compare(world, places)
        if world.rank == 0:
            print(year, crowded)


main()
