"""Parts of an archive are checked by threads of a pool; the main thread shows how far they are."""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor

PART = 1_200_000


def make_archive(parts):
    block = bytes(range(256)) * (PART // 256 + 2)
    return [block[number % 256 : number % 256 + PART] for number in range(parts)]


def check(part):
    digest = hashlib.sha256(part)
    for salt in range(3):
        digest.update(b"%d" % salt)
        digest.update(part)
    return digest.digest()[0]


def show(done, count, shown):
    tenth = 10 * done // count
    if tenth != shown:
        print(f"{10 * tenth} %", file=sys.stderr)
    return tenth


def wait_for_all(futures):
    shown = 0
    while (done := sum(future.done() for future in futures)) < len(futures):  # FAULT: asks without a pause
        shown = show(done, len(futures), shown)
    return sum(future.result() for future in futures)


def main():
    threads, jobs = int(sys.argv[1]), int(sys.argv[2])
    archive = make_archive(jobs)
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(check, part) for part in archive]
        print(wait_for_all(futures))


if __name__ == "__main__":
    main()
