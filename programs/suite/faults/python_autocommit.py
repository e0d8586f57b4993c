"""Orders are read, checked and put into a database, from which a sum is made at the end."""

import sqlite3
import sys


def check(order):
    value = order
    for step in range(1000):
        value = (value * 31 + step) % 1000003
    return value


def store_all(base, orders):
    for order in range(orders):
        base.execute("INSERT INTO orders VALUES (?, ?)", (order, check(order)))
        base.commit()  # FAULT: each order is made durable alone


def main():
    base = sqlite3.connect("orders.db")
    base.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, value INTEGER)")
    store_all(base, int(sys.argv[1]))
    base.commit()
    print(base.execute("SELECT count(*), sum(value) FROM orders").fetchone())
    base.close()


if __name__ == "__main__":
    main()
