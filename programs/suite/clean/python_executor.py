"""A loop of asyncio hands jobs of a tenth of a second to processes, and one more when one is done."""

import asyncio
import concurrent.futures
import sys


def simulate(job):
    value = job
    for step in range(400_000):
        value = (value * 31 + step) % 1000003
    return value


async def simulate_all(executor, jobs):
    loop = asyncio.get_running_loop()
    return sum(await asyncio.gather(*(loop.run_in_executor(executor, simulate, job) for job in range(jobs))))


def main():
    processes, jobs = int(sys.argv[1]), int(sys.argv[2])
    with concurrent.futures.ProcessPoolExecutor(processes) as executor:
        print(asyncio.run(simulate_all(executor, jobs)))


if __name__ == "__main__":
    main()
