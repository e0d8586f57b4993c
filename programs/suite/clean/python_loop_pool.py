"""A loop over events hands blocks to processes, some for each at a time, and adds up what comes back."""

import asyncio
import sys
from concurrent.futures import ProcessPoolExecutor

BLOCK = 120_000


def evaluate(block):
    total = block
    for step in range(BLOCK):
        total = (total * 31 + step) % 1000003
    return total


async def evaluate_some(pool, blocks):
    loop, total = asyncio.get_running_loop(), 0
    for block in blocks:
        total += await loop.run_in_executor(pool, evaluate, block)
    return total


async def evaluate_all(processes, count):
    blocks = iter(range(count))
    with ProcessPoolExecutor(processes) as pool:
        return sum(await asyncio.gather(*(evaluate_some(pool, blocks) for _ in range(4 * processes))))


def main():
    processes, count = int(sys.argv[1]), 4 * int(sys.argv[2])
    print(asyncio.run(evaluate_all(processes, count)))


if __name__ == "__main__":
    main()
