"""Sheets of a map are drawn by threads, which put them into one archive of the zip format, one at a time.

Its fault: a sheet is compressed while the lock of the archive is held, so that one thread at a time does.
"""

import sys
import threading
import zipfile

SHEETS, LABELS = 80, 9000


def draw(number):
    """A pattern, many times, and labels that differ in each sheet."""
    pattern = bytes((place * place * (number + 3) >> 7) & 0x3F for place in range(5003))
    labels = b"".join(b"%d " % (label * label * 7919 % 1000003) for label in range(number, number + LABELS))
    return pattern * 140 + labels * 8


class Atlas:
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.lock = threading.Lock()

    def put(self, number, sheet):
        with self.lock:
            self.archive.writestr(f"sheet{number}", sheet)  # FAULT: compresses while the others wait


def draw_some(atlas, numbers):
    for number in numbers:
        atlas.put(number, draw(number))


def main():
    threads, path = int(sys.argv[1]), f"{sys.argv[2]}/atlas.zip"
    atlas = Atlas(path)
    team = [
        threading.Thread(target=draw_some, args=(atlas, range(first, SHEETS, threads)))
        for first in range(threads)
    ]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    atlas.archive.close()
    with zipfile.ZipFile(path) as archive:
        print(sum(info.file_size for info in archive.infolist()), "bytes")


main()
