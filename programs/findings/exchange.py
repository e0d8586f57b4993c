"""Processes of a pool score the rows of a table. Argument: sent (with the table for each), or inherited."""

import json
import multiprocessing
import os
import sys
import time

table = []


def score(row, whole):
    return sum(whole[(row * step) % len(whole)] for step in range(60_000)) % 1000


def score_sent(job):
    return score(*job)


def score_inherited(row):
    return score(row, table)


def main():
    how, rows = sys.argv[1], 120
    table.extend(number * 7919 % 10007 for number in range(300_000))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        if how == "sent":
            total = sum(pool.imap(score_sent, ((row, table) for row in range(rows))))
        else:
            total = sum(pool.imap(score_inherited, range(rows)))
        pool.close()
        pool.join()
    of_children = os.times()
    cpu_s = time.process_time() + of_children.children_user + of_children.children_system
    print(json.dumps({"how": how, "total": total, "cpu_s": cpu_s}))


if __name__ == "__main__":
    main()
