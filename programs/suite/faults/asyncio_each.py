"""Measurements are fetched from a server, which needs a moment for each, and evaluated."""

import asyncio
import multiprocessing
import os
import sys

DELAY_S = 0.006


async def answer(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(DELAY_S)
        writer.write(b"%d\n" % (int(line) * 7919 % 1000003))
    writer.close()


async def serve(path, ready):
    server = await asyncio.start_unix_server(answer, path)
    ready.set()
    async with server:
        await server.serve_forever()


def run_server(path, ready):
    asyncio.run(serve(path, ready))


def evaluate(value):
    for step in range(50_000):
        value = (value * 31 + step) % 1000003
    return value


async def fetch(path, station):
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"%d\n" % station)
    line = await reader.readline()
    writer.close()
    return int(line)


async def collect(path, stations):
    total = 0
    for station in range(stations):
        value = await fetch(path, station)  # FAULT: one request at a time is on its way
        total += evaluate(value)
    return total


def main():
    stations, path = int(sys.argv[1]), os.path.join(sys.argv[2], "socket")
    ready = multiprocessing.Event()
    server = multiprocessing.Process(target=run_server, args=(path, ready), daemon=True)
    server.start()
    ready.wait()
    print(asyncio.run(collect(path, stations)))
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
