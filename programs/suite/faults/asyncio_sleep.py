"""Pages are fetched from a slow source by coroutines, many at a time, and a little is computed from each."""

import asyncio
import sys
import time


def digest(page):
    value = page
    for step in range(12000):
        value = (value * 31 + step) % 1000003
    return value


async def answer_of(page):
    """Stands for what a source sends when it is asked."""
    await asyncio.sleep(0.02)
    return page


async def fetch(page, limit):
    async with limit:
        received = await answer_of(page)
        time.sleep(0.006)  # FAULT: to be polite to the source, but all the other coroutines stand still, too
        return digest(received)


async def fetch_all(pages):
    limit = asyncio.Semaphore(40)
    return sum(await asyncio.gather(*(fetch(page, limit) for page in range(pages))))


if __name__ == "__main__":
    print(asyncio.run(fetch_all(int(sys.argv[1]))))
