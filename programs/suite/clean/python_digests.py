"""Threads derive keys from many passwords; the interpreter's lock is not held while a key is derived."""

import concurrent.futures
import hashlib
import sys


def derive(number):
    return hashlib.pbkdf2_hmac("sha256", b"password %d" % number, b"salt", 40000)[0]


if __name__ == "__main__":
    threads, jobs = int(sys.argv[1]), int(sys.argv[2])
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        print(sum(pool.map(derive, range(2 * jobs))))
