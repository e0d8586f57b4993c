"""Processes advance even parts of a field in shared memory; they meet after each step at a barrier."""

import multiprocessing
import sys
from multiprocessing import shared_memory

CELLS, STEPS, ROUNDS = 4000, 90, 60


def advance(old, new, first, last, step):
    for cell in range(first, last):
        value = old[cell]
        for _ in range(ROUNDS):
            value = (value * 31 + step) % 1000003
        new[cell] = value


def work(name, barrier, first, last, cells):
    memory = shared_memory.SharedMemory(name)
    field = memory.buf.cast("q")
    old, new = field[:cells], field[cells : 2 * cells]
    for step in range(STEPS):
        advance(old, new, first, last, step)
        barrier.wait()
        old, new = new, old
    old.release()
    new.release()
    field.release()
    memory.close()


def main():
    workers = int(sys.argv[1])
    cells = CELLS * int(sys.argv[2]) // 48
    memory = shared_memory.SharedMemory(create=True, size=16 * cells)
    field = memory.buf.cast("q")
    for cell in range(cells):
        field[cell] = cell * 7919 % 10007
    barrier = multiprocessing.Barrier(workers)
    team = [
        multiprocessing.Process(
            target=work,
            args=(memory.name, barrier, cells * worker // workers, cells * (worker + 1) // workers, cells),
        )
        for worker in range(workers)
    ]
    for process in team:
        process.start()
    for process in team:
        process.join()
    print(sum(field[cells * (STEPS % 2) + cell] for cell in range(cells)))
    field.release()
    memory.close()
    memory.unlink()


if __name__ == "__main__":
    main()
