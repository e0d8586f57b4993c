"""Users log in at a server; a password is checked by a slow hash of the library, and a session is made.

Its fault: the hash is computed in the coroutine, so that the loop stands still and one processor works.
"""

import asyncio
import hashlib

USERS, CLIENTS, ROUNDS = 112, 16, 60_000


class Server:
    def __init__(self):
        self.sessions = {}

    async def check(self, name, password):
        # FAULT: not in a thread of its own, though the library lets others work meanwhile
        key = hashlib.pbkdf2_hmac("sha256", password.encode(), name.encode(), ROUNDS)
        self.sessions[name] = key.hex()
        return key[0]

    async def answer(self, reader, writer):
        while line := await reader.readline():
            name, password = line.decode().split()
            first = await self.check(name, password)
            writer.write(f"{first}\n".encode())
            await writer.drain()
        writer.close()


async def client(port, first):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    total = 0
    for number in range(first, USERS, CLIENTS):
        writer.write(f"user{number} secret{number * 7919}\n".encode())
        total += int(await reader.readline())
    writer.close()
    return total


async def main():
    service = Server()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    totals = await asyncio.gather(*(client(port, first) for first in range(CLIENTS)))
    server.close()
    print(f"{len(service.sessions)} sessions, {sum(totals)}")


asyncio.run(main())
