"""Threads start a process for each chapter of a book, and wait for it: no more at a time than asked for."""

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CHAPTERS, SIZE = 18, 700_000


def write_chapters(folder):
    chance = random.Random(11)
    words = [bytes(chance.choices(b"aeinorst ", k=chance.randint(3, 9))) for _ in range(3000)]
    text = b" ".join(chance.choices(words, k=SIZE // 5))
    names = []
    for chapter in range(CHAPTERS):
        names.append(os.path.join(folder, f"chapter{chapter:02}"))
        with open(names[-1], "wb") as file:
            file.write(text[chapter * 1000 :] + text[: chapter * 1000])
    return names


def pack(name):
    subprocess.run(["xz", "-3", name], check=True)
    return os.path.getsize(f"{name}.xz")


def main():
    threads, folder = int(sys.argv[1]), sys.argv[2]
    names = write_chapters(folder)
    with ThreadPoolExecutor(threads) as pool:
        print(sum(pool.map(pack, names)) // 1000, "kB")


if __name__ == "__main__":
    main()
