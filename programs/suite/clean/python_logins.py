"""Users log in at a server, whose loop hands the slow check of passwords to as many threads as processors.

The check is a hash of the library, which works without the interpreter's lock; there is always one waiting.
"""

import asyncio
import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor

USERS, CLIENTS, ROUNDS = 240, 24, 50_000


class Logins:
    def __init__(self, threads):
        self.pool = ThreadPoolExecutor(threads)
        self.sessions = {}

    async def answer(self, reader, writer):
        loop = asyncio.get_running_loop()
        while line := await reader.readline():
            name, password = line.split()
            key = await loop.run_in_executor(
                self.pool, hashlib.pbkdf2_hmac, "sha256", password, name, ROUNDS
            )
            self.sessions[name] = key
            writer.write(f"{key[0]}\n".encode())
            await writer.drain()
        writer.close()


async def visit(port, first):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    total = 0
    for number in range(first, USERS, CLIENTS):
        writer.write(f"visitor{number} word{number * 104729}\n".encode())
        total += int(await reader.readline())
    writer.close()
    return total


async def main():
    logins = Logins(int(sys.argv[1]))
    server = await asyncio.start_server(logins.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    totals = await asyncio.gather(*(visit(port, first) for first in range(CLIENTS)))
    server.close()
    print(f"{len(logins.sessions)} users, {sum(totals)}")


asyncio.run(main())
