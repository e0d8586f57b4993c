"""Birds of a flock, shared by the ranks: each turns towards where the others fly."""

import math
import random

from mpi4py import MPI

BIRDS, STEPS = 40000, 36


def start(rank, count):
    chance = random.Random(rank)
    return [
        {"id": rank * count + n, "x": chance.random(), "y": chance.random(), "turn": chance.random() * 6.28}
        for n in range(count)
    ]


def turn(birds, flock):
    leaders = flock[:: len(flock) // 40]
    east = sum(math.cos(bird["turn"]) for bird in leaders) / len(leaders)
    north = sum(math.sin(bird["turn"]) for bird in leaders) / len(leaders)
    for bird in birds:
        bird["x"] += 0.001 * math.cos(bird["turn"])
        bird["y"] += 0.001 * math.sin(bird["turn"])
        bird["turn"] += 0.1 * (math.atan2(north, east) - bird["turn"])


def share(world, birds):
    everyone = world.allgather(birds)  # FAULT: all birds are pickled and sent to all, and few are needed
    return [bird for part in everyone for bird in part]


def main():
    world = MPI.COMM_WORLD
    birds = start(world.rank, BIRDS // world.size)
    for _ in range(STEPS):
        turn(birds, share(world, birds))
    total = world.reduce(sum(bird["x"] for bird in birds))
    if world.rank == 0:
        print(f"{total:.6f}")


main()
