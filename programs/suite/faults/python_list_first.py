"""Orders come in a packed file of text, one a line, and the processes of a pool compute their prices."""

import gzip
import json
import multiprocessing
import sys

BATCH = 500


def write_orders(path, batches):
    """The same customers order the same each day."""
    lines = []
    for number in range(BATCH):
        parts = [{"article": (number * 31 + part) % 997, "count": part + 1} for part in range(12)]
        lines.append(json.dumps({"number": number, "parts": parts}) + "\n")
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.writelines(lines * batches)


def read_batches(path):
    """Orders of some hundred lines at a time."""
    batch = []
    with gzip.open(path, "rt") as file:
        for line in file:
            order = json.loads(line)
            batch.append([(part["article"], part["count"]) for part in order["parts"]])
            if len(batch) == BATCH:
                yield batch
                batch = []


def prices(batch):
    total = 0
    for order in batch:
        for article, count in order:
            discount = 1
            for step in range(count):
                discount = (discount * 31 + article + step) % 1009 + step % 3
            total += count * article + discount
    return total


def main():
    count, batches, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    write_orders(path, batches)
    with multiprocessing.Pool(count) as pool:
        orders = list(read_batches(path))  # FAULT: all batches are read before the first is handed out
        print(sum(pool.imap_unordered(prices, orders)))


if __name__ == "__main__":
    main()
