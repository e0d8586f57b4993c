"""The first rank hands out molecules to the others, and adds what they find to a catalogue."""

import sys

from mpi4py import MPI

MOLECULES, ATOMS, STEPS = 240, 60, 1000


def energies(molecule):
    """What a rank other than the first does with a molecule."""
    values, total = [], molecule
    for step in range(STEPS * ATOMS):
        total = (total * 31 + step) % 1000003
        if step % STEPS == 0:
            values.append(total)
    return values


def enter(catalogue, values):
    for value in values:
        key = value
        for step in range(1000):
            key = (key * 37 + step) % 1000033
        catalogue[key] = catalogue.get(key, 0) + 1


def hand_out(world):
    catalogue, status, molecule, busy = {}, MPI.Status(), 0, world.size - 1
    while busy > 0:
        values = world.recv(source=MPI.ANY_SOURCE, status=status)
        if values is not None:
            enter(catalogue, values)  # FAULT: who found this gets the next molecule only afterwards
        is_next = molecule < MOLECULES
        world.send(molecule if is_next else None, dest=status.source)
        molecule += is_next
        busy -= not is_next
    return sum(catalogue.values())


def compute(world):
    values = None
    while True:
        molecule = world.sendrecv(values, dest=0, source=0)
        if molecule is None:
            break
        values = energies(molecule)


def main():
    world = MPI.COMM_WORLD
    if world.size < 2:
        sys.exit("two ranks are needed")
    if world.rank == 0:
        print(f"{hand_out(world)} entries")
    else:
        compute(world)


main()
