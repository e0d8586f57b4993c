"""Visits of a museum are counted by weekday, and the days are told by the date of each ticket."""

import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

TICKETS = 900


def sold_tickets():
    chance = random.Random(3)
    days = [(chance.randint(10, 25), chance.randint(1, 12), chance.randint(1, 28)) for _ in range(TICKETS)]
    return [f"20{year}-{month:02}-{day:02}" for year, month, day in days]


def weekday(ticket):
    command = ["date", "-d", ticket, "+%u"]
    done = subprocess.run(command, capture_output=True, check=True)  # FAULT: a process for each ticket
    return int(done.stdout)


def count_visits(tickets):
    return Counter(weekday(ticket) for ticket in tickets)


def main():
    workers = int(sys.argv[1])
    tickets = sold_tickets()
    visits = Counter()
    with ThreadPoolExecutor(workers) as pool:
        for part in pool.map(count_visits, [tickets[worker::workers] for worker in range(workers)]):
            visits += part
    print(sorted(visits.items()))


if __name__ == "__main__":
    main()
