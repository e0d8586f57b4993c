"""Texts are scored by the processes of a pool, by a table of weights that lies in a file.

Its fault: the file is read and parsed for each text, though it is always the same.
"""

import json
import multiprocessing
import pathlib
import random
import sys

TEXTS, LENGTH, WORDS = 30, 60_000, 60_000


def make_table(path):
    chance = random.Random(7)
    table = {f"w{number}": [chance.random(), chance.random()] for number in range(WORDS)}
    path.write_text(json.dumps(table))


def load_table(path):
    return json.loads(path.read_text())  # FAULT: for each text again


def score(job):
    path, number = job
    table = load_table(path)
    good = bad = 0.0
    for place in range(LENGTH):
        weights = table[f"w{(place * 7919 + number * 31) % WORDS}"]
        good += weights[0]
        bad += weights[1]
    return good - bad


def main():
    threads, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    path = folder / "weights.json"
    make_table(path)
    with multiprocessing.Pool(threads) as pool:
        scores = pool.map(score, [(path, number) for number in range(TEXTS)], chunksize=2)
    print(f"{sum(scores):.6f}")


if __name__ == "__main__":
    main()
