"""A server of asyncio checks passwords by a slow hash. Argument: kept in the loop, or handed to threads."""

import asyncio
import hashlib
import json
import sys
import time

CLIENTS, REQUESTS, ROUNDS = 8, 80, 60_000


def slow_hash(password):
    return hashlib.pbkdf2_hmac("sha256", password, b"salt", ROUNDS)


class Server:
    def __init__(self, how):
        self.how = how

    async def check(self, password):
        if self.how == "kept":
            key = slow_hash(password)
        else:
            key = await asyncio.to_thread(slow_hash, password)
        return key[0]

    async def answer(self, reader, writer):
        while line := await reader.readline():
            writer.write(b"%d\n" % await self.check(line.strip()))
            await writer.drain()
        writer.close()


async def client(port, first):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    total = 0
    for number in range(first, REQUESTS, CLIENTS):
        writer.write(b"secret%d\n" % number)
        total += int(await reader.readline())
    writer.close()
    await writer.wait_closed()
    return total


async def main():
    server = await asyncio.start_server(Server(sys.argv[1]).answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    totals = await asyncio.gather(*(client(port, first) for first in range(CLIENTS)))
    server.close()
    return sum(totals)


begun_s = time.perf_counter()
total = asyncio.run(main())
wall_s, cpu_s = time.perf_counter() - begun_s, time.process_time()
print(json.dumps({"how": sys.argv[1], "total": total, "wall_s": wall_s, "cpu_s": cpu_s}))
