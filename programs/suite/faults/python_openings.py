"""Openings of a game with stones are rated: whoever takes the last stone wins."""

import sys
from concurrent.futures import ThreadPoolExecutor

OPENINGS = 96


def wins(heaps, known):
    if heaps in known:
        return known[heaps]
    found = False
    for at, heap in enumerate(heaps):
        for left in range(heap):
            after = tuple(sorted(heaps[:at] + (left,) + heaps[at + 1 :]))
            if not wins(after, known):
                found = True
    known[heaps] = found
    return found


def rate(opening):
    known = {(0, 0, 0): False}
    wins(tuple(sorted((opening % 7 + 13, opening % 5 + 13, 14))), known)
    return sum(known.values())


def rate_all(workers):
    with ThreadPoolExecutor(max_workers=workers) as crew:  # FAULT: pure Python, one thread at a time
        return sum(crew.map(rate, range(OPENINGS)))


def main():
    print(rate_all(int(sys.argv[1])))


if __name__ == "__main__":
    main()
