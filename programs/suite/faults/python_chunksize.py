"""Pieces of a text, the short ones first, are compared with each other by a pool of processes."""

import multiprocessing
import sys


def make_pieces(count):
    lengths = [20 + 3 * number for number in range(count)]
    return [[(length * 7919 + place * 31) % 97 for place in range(length)] for length in lengths]


def repeats(piece):
    found = 0
    for place, letter in enumerate(piece):
        for other in piece[:place]:
            found += letter == other
    return found


def compare_all(pool, pieces, processes):
    share = -(-len(pieces) // processes)
    return sum(pool.map(repeats, pieces, chunksize=share))  # FAULT: the long ones go together


def main():
    processes, count = int(sys.argv[1]), int(sys.argv[2])
    with multiprocessing.Pool(processes) as pool:
        print(compare_all(pool, make_pieces(count), processes))


if __name__ == "__main__":
    main()
