"""Prices are asked of a slow exchange by many traders, who keep the latest of them in a book."""

import asyncio
import multiprocessing
import os
import sys

TRADERS, DELAY_S, STEPS = 12, 0.004, 24_000


async def answer(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(DELAY_S)
        writer.write(b"%d\n" % (int(line) * 7919 % 100_003))
    writer.close()


async def serve(path, ready):
    server = await asyncio.start_unix_server(answer, path)
    ready.set()
    async with server:
        await server.serve_forever()


def run_exchange(path, ready):
    asyncio.run(serve(path, ready))


def judge(price):
    for step in range(STEPS):
        price = (price * 31 + step) % 1_000_003
    return price


async def ask(line, share):
    reader, writer = line
    writer.write(b"%d\n" % share)
    return int(await reader.readline())


async def trade(path, first, shares, book, lock):
    line, total = await asyncio.open_unix_connection(path), 0
    for share in range(first, shares, TRADERS):
        async with lock:  # FAULT: the book is locked while the exchange is asked, so that one asks at a time
            book[share % 50] = price = await ask(line, share)
        total += judge(price)
    line[1].close()
    return total


async def trade_all(path, shares):
    book, lock = {}, asyncio.Lock()
    traders = [trade(path, first, shares, book, lock) for first in range(TRADERS)]
    return sum(await asyncio.gather(*traders))


def main():
    shares, path = int(sys.argv[1]), os.path.join(sys.argv[2], "exchange")
    ready = multiprocessing.Event()
    exchange = multiprocessing.Process(target=run_exchange, args=(path, ready), daemon=True)
    exchange.start()
    ready.wait()
    print(asyncio.run(trade_all(path, shares)))
    exchange.terminate()
    exchange.join()


if __name__ == "__main__":
    main()
