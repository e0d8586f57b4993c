"""Keys of a simple cipher are tried by a pool of processes; a job is a range of keys."""

import sys
from multiprocessing import Pool

TEXT = [ord(letter) - 97 for letter in "fourscoreandsevenyearsagoourfathersbroughtforth" * 4]
COMMON = {ord(letter) - 97 for letter in "etaoin"}
KEYS, JOB = 72000, 500


def score(key):
    shift, grow = key % 26, key // 26 % 25 + 1
    count = 0
    for place, letter in enumerate(TEXT):
        if (letter + shift + place * grow) % 26 in COMMON:
            count += 1
    return count


def best_of(first):
    return max((score(key), -key) for key in range(first, first + JOB))


def main():
    with Pool(int(sys.argv[1])) as pool:
        print(max(pool.imap_unordered(best_of, range(0, KEYS, JOB))))


if __name__ == "__main__":
    main()
