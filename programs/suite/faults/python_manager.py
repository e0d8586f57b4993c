"""Processes of a pool count the words of documents in a table that they share."""

import multiprocessing
import sys

WORDS = 60


def words_of(document):
    state = document + 1
    for _ in range(WORDS):
        for _ in range(24):
            state = (state * 1103515245 + 12345) % 2147483648
        yield state % 97


def count_words(job):
    counts, document = job
    for word in words_of(document):
        counts[word] = counts.get(word, 0) + 1  # FAULT: each asks another process, twice
    return document


def count_all(pool, counts, documents):
    return sum(pool.imap_unordered(count_words, [(counts, number) for number in range(documents)], 8))


def main():
    processes, jobs = int(sys.argv[1]), int(sys.argv[2])
    with multiprocessing.Manager() as manager, multiprocessing.Pool(processes) as pool:
        counts = manager.dict()
        print(count_all(pool, counts, 4 * jobs), len(counts))


if __name__ == "__main__":
    main()
