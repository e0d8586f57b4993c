"""Pages of a book are packed by threads, in a library that is written in C."""

import concurrent.futures
import ctypes
import sys

LIBRARY = ctypes.PyDLL("libz.so.1")  # FAULT: its calls keep the interpreter's lock
PAGE = 400_000


def make_page(number):
    state, words = number + 1, []
    for _ in range(PAGE // 8):
        state = (state * 1103515245 + 12345) % 2147483648
        words.append(b"%07x" % (state // 64 % 65536))
    return b" ".join(words)


def pack(page):
    """How long the page is when packed."""
    size = ctypes.c_ulong(len(page) + 10000)
    packed = ctypes.create_string_buffer(size.value)
    LIBRARY.compress2(packed, ctypes.byref(size), page, ctypes.c_ulong(len(page)), 6)
    return size.value


def main():
    count = int(sys.argv[1])
    pages = [make_page(number) for number in range(6)]
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        print(sum(pool.map(pack, pages * 24)))


main()
