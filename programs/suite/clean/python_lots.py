"""Lots of a raffle are drawn by processes, three thousand draws at a time, and hits are added up."""

import random
import sys
from multiprocessing import Pool

ROUNDS, DRAWS = 260, 3000


def hits_of(number):
    chance = random.Random(number)
    hits = 0
    for _ in range(DRAWS):
        drawn = {chance.randrange(49) for _ in range(6)}
        hits += len(drawn & {3, 8, 17, 22, 31, 40}) > 1
    return hits


def main():
    with Pool(int(sys.argv[1])) as pool:
        print(sum(pool.imap_unordered(hits_of, range(ROUNDS), chunksize=2)))


if __name__ == "__main__":
    main()
