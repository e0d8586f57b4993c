"""Processes of a pool score customers by a large table, which is the same for all of them."""

import functools
import multiprocessing
import sys


def make_table():
    return [(7919 * number) % 10007 for number in range(300_000)]


def score(table, customer):
    value = customer
    for step in range(60_000):
        value = (value * 31 + table[(value + step) % len(table)]) % 1000003
    return value


def score_all(pool, table, customers):
    score_one = functools.partial(score, table)
    return sum(pool.imap(score_one, range(customers)))  # FAULT: the table is sent with each customer


if __name__ == "__main__":
    workers, customers = int(sys.argv[1]), int(sys.argv[2])
    table = make_table()
    with multiprocessing.Pool(workers) as pool:
        print(score_all(pool, table, customers))
