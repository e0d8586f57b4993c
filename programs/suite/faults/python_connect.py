"""Orders are checked against the prices in a database, by a process for each processor."""

import multiprocessing
import sqlite3
import sys

ITEMS = 2000


def make_base(path):
    with sqlite3.connect(path) as base:
        for table in range(40):
            base.execute(f"CREATE TABLE note{table}(id INTEGER PRIMARY KEY, text TEXT, kind INTEGER)")
        base.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, price INTEGER)")
        base.executemany("INSERT INTO item VALUES (?, ?)", ((i, i * 7919 % 1009) for i in range(ITEMS)))
    base.close()


def price_of(path, item):
    base = sqlite3.connect(path)  # FAULT: the database is opened for each price
    price = base.execute("SELECT price FROM item WHERE id = ?", (item,)).fetchone()[0]
    base.close()
    return price


def check(orders):
    total = 0
    for order in orders:
        value = price_of("prices.db", order * 31 % ITEMS)
        for step in range(600):
            value = (value * 31 + step) % 1000003
        total += value
    return total


def main():
    processes, jobs = int(sys.argv[1]), int(sys.argv[2])
    make_base("prices.db")
    with multiprocessing.Pool(processes) as pool:
        print(sum(pool.imap_unordered(check, [range(job, job + 100) for job in range(jobs)])))


if __name__ == "__main__":
    main()
