"""Prices are asked from a service that needs a while for each answer; a pool of threads asks."""

import asyncio
import json
import multiprocessing
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

ARTICLES = 110


async def answer(reader, writer):
    article = int(await reader.readline())
    await asyncio.sleep(0.02)
    prices = {f"size {size}": (article * 7919 + size) % 1009 / 10 for size in range(200)}
    writer.write(json.dumps(prices).encode())
    await writer.drain()
    writer.close()


async def serve(port):
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    port.send(server.sockets[0].getsockname()[1])
    async with server:
        await server.serve_forever()


def ask(port, article):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{article}\n".encode())
        with connection.makefile("rb") as reply:
            return json.load(reply)


def cheapest(port, article):
    prices = ask(port, article)
    return min(prices.values())


def ask_all(port, threads):
    # FAULT: as many threads as processors, though each waits nearly all the time
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return sum(pool.map(cheapest, [port] * ARTICLES, range(ARTICLES)))


def main():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    service = multiprocessing.Process(target=lambda: asyncio.run(serve(sender)), daemon=True)
    service.start()
    print(f"{ask_all(receiver.recv(), int(sys.argv[1])):.1f}")
    service.terminate()
    service.join()


if __name__ == "__main__":
    main()
