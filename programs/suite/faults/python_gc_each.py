"""Orders are matched with a catalogue by processes that each have some of the customers."""

import gc
import multiprocessing
import sys

GOODS, ORDERS, LINES = 60_000, 9_000, 60


class Article:
    def __init__(self, number):
        self.name = f"article {number * 7919 % 100_003}"
        self.price = number * 31 % 997
        self.tags = [number % 7, number % 11]


def make_catalogue():
    articles = [Article(number) for number in range(GOODS)]
    return {article.name: article for article in articles}


def make_order(number):
    return [
        {"name": f"article {(number * 61 + line * 127) * 7919 % 100_003}", "count": 1 + line % 9}
        for line in range(LINES)
    ]


def settle(order, catalogue):
    """What an order costs, with a discount for each tag that comes often."""
    cost, seen = 0, {}
    for line in order:
        article = catalogue.get(line["name"])
        if article is None:
            continue
        cost += article.price * line["count"]
        for tag in article.tags:
            seen[tag] = seen.get(tag, 0) + 1
    for step in range(6_000):
        cost = (cost * 33 + step) % 1_000_003
    return cost * 10 // (10 + sum(count > 9 for count in seen.values()))


def work(first, step, results):
    catalogue, total = make_catalogue(), 0
    for number in range(first, ORDERS, step):
        total += settle(make_order(number), catalogue)
        if number // step % 40 == 0:
            gc.collect()  # FAULT: the whole catalogue is looked through for garbage every forty orders
    results.put(total)


def main():
    count = int(sys.argv[1])
    results = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(first, count, results)) for first in range(count)]
    for worker in workers:
        worker.start()
    print(sum(results.get() for _ in workers))
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
