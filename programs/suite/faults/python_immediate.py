"""Processes take samples, compute a spectrum of each, and store it in a database in common."""

import multiprocessing
import os
import sqlite3
import sys


def connect(path):
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def create(path):
    with connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE spectrum(sample INTEGER, line INTEGER, strength INTEGER)")


def spectrum(sample):
    lines = []
    for line in range(24):
        strength = sample * 7919 + line
        for round_ in range(4000):
            strength = (strength * 31 + round_) % 1000003
        lines.append((sample, line, strength))
    return lines


def store(connection, sample):
    connection.execute("BEGIN IMMEDIATE")  # FAULT: the transaction begins before the spectrum is computed
    lines = spectrum(sample)
    connection.executemany("INSERT INTO spectrum VALUES(?, ?, ?)", lines)
    connection.execute("COMMIT")


def work(path, worker, workers, samples):
    connection = connect(path)
    for sample in range(worker, samples, workers):
        store(connection, sample)
    connection.close()


def main():
    workers, samples, path = int(sys.argv[1]), int(sys.argv[2]), os.path.join(sys.argv[3], "spectra")
    create(path)
    arguments = [(path, worker, workers, samples) for worker in range(workers)]
    team = [multiprocessing.Process(target=work, args=each) for each in arguments]
    for process in team:
        process.start()
    for process in team:
        process.join()
    print(connect(path).execute("SELECT count(*), sum(strength) FROM spectrum").fetchone())


if __name__ == "__main__":
    main()
