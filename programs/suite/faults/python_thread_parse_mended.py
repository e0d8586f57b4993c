"""Lines of a web server's log are taken apart by a pool, and the bytes of each page are added up."""

import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

PARTS, LINES = 180, 5000


def make_part(part):
    chance = random.Random(part)
    hosts = [f"10.0.{chance.randrange(99)}.7" for _ in range(500)]
    lines = [f"{host} GET /page{chance.randrange(50)}?day={n} 200 {n}" for n, host in enumerate(hosts)]
    return lines * (LINES // 500)


def read_part(lines):
    sizes = Counter()
    for line in lines:
        host, _, address, status, size = line.split(" ")
        page, _, query = address.partition("?")
        if status == "200" and host.startswith("10.") and query:
            sizes[page] += int(size) + sum(int(number) for number in host.split(".")) % 3
    return sizes


def read_all(parts, workers):
    total = Counter()
    with ProcessPoolExecutor(workers) as pool:
        for sizes in pool.map(read_part, parts):
            total += sizes
    return total


def main():
    parts = [make_part(part) for part in range(PARTS)]
    total = read_all(parts, int(sys.argv[1]))
    print(sum(total.values()), total.most_common(1))


if __name__ == "__main__":
    main()
