"""The weather of many towns is asked for at a server on this machine, by coroutines."""

import asyncio
import json
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOWNS, CREWS = 90, 6


class Weather(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.02)
        town = int(self.path.rsplit("/", 1)[1])
        body = json.dumps({"town": town, "degrees": town * 7 % 30}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def read_address(address):
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)


async def forecast(port, town):
    found = read_address(f"http://127.0.0.1:{port}/town/{town}")  # FAULT: blocks the event loop
    await asyncio.sleep(0)
    return found["degrees"]


async def crew(port, first):
    return sum([await forecast(port, town) for town in range(first, TOWNS, CREWS)])


async def ask_all(port):
    return sum(await asyncio.gather(*(crew(port, first) for first in range(CREWS))))


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Weather)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(asyncio.run(ask_all(server.server_address[1])))
    server.shutdown()


main()
