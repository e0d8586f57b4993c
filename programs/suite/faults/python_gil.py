"""Threads of Python that compute in Python: one works at a time, since they share the interpreter's lock."""

import os
import sys
import threading


def collatz(first, last):
    longest = 0
    for start in range(first, last):
        length, number = 0, start
        while number > 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            length += 1
        longest = max(longest, length)
    return longest


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else max(2, os.cpu_count() or 2)
    team = []
    for number in range(threads):
        begin = 1 + 250000 * number // threads
        end = 1 + 250000 * (number + 1) // threads
        team.append(threading.Thread(target=collatz, args=(begin, end)))  # FAULT: they share one lock
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    print(threads)


main()
