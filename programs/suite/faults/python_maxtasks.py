"""Letters are classified by the processes of a pool; each knows the weights of many words."""

import multiprocessing
import sys

WORDS, LETTERS = 60_000, 1000
weights = {}


def load_weights():
    for number in range(WORDS):
        weights[f"word{number}"] = number * 7919 % 1009 - 504


def classify(letter):
    score = 0
    for place in range(4000):
        word = f"word{(letter * 104729 + place * 7919) % WORDS}"
        score += weights[word] * (place % 7)
    return letter, score > 0


def classify_all(letters, processes):
    accepted = 0
    # FAULT: a process is started, and ended, for each letter
    with multiprocessing.Pool(processes, maxtasksperchild=1) as pool:
        for _, is_accepted in pool.imap_unordered(classify, range(letters)):
            accepted += is_accepted
    return accepted


def main():
    processes, letters = int(sys.argv[1]), int(sys.argv[2])
    load_weights()
    print(classify_all(letters, processes), "of", letters)


if __name__ == "__main__":
    main()
