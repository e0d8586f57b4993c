"""Parts of a backup are compressed by processes, as many at a time as there are processors."""

import os
import random
import subprocess
import sys
import time

PARTS, SIZE = 28, 400_000


def write_parts(folder):
    chance = random.Random(7)
    words = [bytes(chance.choices(b"abcdefgh ", k=chance.randint(3, 9))) for _ in range(3000)]
    text = b" ".join(chance.choices(words, k=SIZE // 5))
    names = []
    for part in range(PARTS):
        names.append(os.path.join(folder, f"part{part:02}"))
        with open(names[-1], "wb") as file:
            file.write(text[part * 1000 :] + text[: part * 1000])
    return names


def wait_for_slot(running, slots):
    while len(running) >= slots:
        time.sleep(0.1)  # FAULT: who has ended is noticed up to a tenth of a second later
        running[:] = [process for process in running if process.poll() is None]


def compress_all(names, slots):
    running = []
    for name in names:
        wait_for_slot(running, slots)
        running.append(subprocess.Popen(["gzip", "-9", name]))
    for process in running:
        process.wait()


def main():
    slots, folder = int(sys.argv[1]), sys.argv[2]
    names = write_parts(folder)
    compress_all(names, slots)
    print(sum(os.path.getsize(f"{name}.gz") for name in names) // 1000, "kB")


if __name__ == "__main__":
    main()
