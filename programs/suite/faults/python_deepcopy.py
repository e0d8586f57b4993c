"""Squares are filled with numbers so that none is twice in a row or column; a search tries what is possible.

Each process of a pool counts the ways to complete some of the squares.
"""

import copy
import multiprocessing
import random
import sys

SIDE, GIVEN, SQUARES = 6, 12, 200


def make_square(number):
    """A square with some fields given; the others are 0."""
    chance = random.Random(number)
    symbols = chance.sample(range(1, SIDE + 1), SIDE)
    full = [[symbols[(row + column) % SIDE] for column in range(SIDE)] for row in range(SIDE)]
    kept = set(chance.sample(range(SIDE * SIDE), GIVEN))
    return [
        [full[row][column] if row * SIDE + column in kept else 0 for column in range(SIDE)]
        for row in range(SIDE)
    ]


def possible(square, row, column):
    taken = set(square[row]) | {line[column] for line in square}
    return [number for number in range(1, SIDE + 1) if number not in taken]


def count_ways(square, place, left):
    """In how many ways a square can be completed from a place on, of the first `left`."""
    while place < SIDE * SIDE and square[place // SIDE][place % SIDE]:
        place += 1
    if place == SIDE * SIDE:
        return 1
    row, column = divmod(place, SIDE)
    ways = 0
    for number in possible(square, row, column):
        if ways >= left:
            break
        tried = copy.deepcopy(square)  # FAULT: the whole square is copied to change one field
        tried[row][column] = number
        ways += count_ways(tried, place + 1, left - ways)
    return ways


def main():
    with multiprocessing.Pool(int(sys.argv[1])) as pool:
        print(sum(pool.starmap(count_ways, [(make_square(n), 0, 60) for n in range(SQUARES)], chunksize=1)))


if __name__ == "__main__":
    main()
