"""A gauge reports to a collector over a socket; the collector also fits a trend, in a thread of its own."""

import multiprocessing
import socket
import sys
import threading

REPORTS, STEPS, POINTS = 220, 850, 9000


def measure(number):
    total = number
    for step in range(75_000):
        total = (total * 31 + step) % 1000003
    return total


def report_all(port):
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rwb") as stream:
        for number in range(REPORTS):
            stream.write(f"{number} {measure(number)}\n".encode())
            stream.flush()
            if stream.readline() != b"kept\n":
                sys.exit("a report was refused")


def receive(listener, kept):
    connection, _ = listener.accept()
    with connection, connection.makefile("rwb") as stream:
        for line in stream:
            kept.append([int(word) for word in line.split()])
            stream.write(b"kept\n")
            stream.flush()


def fit_trend(values):
    slope, offset = 0.0, 0.0
    for _ in range(STEPS):
        for place, value in enumerate(values):
            error = slope * place + offset - value
            slope -= 1e-9 * error * place
            offset -= 1e-3 * error
    return slope


def main():
    listener, kept, trend = socket.create_server(("127.0.0.1", 0)), [], []
    gauge = multiprocessing.Process(target=report_all, args=(listener.getsockname()[1],))
    gauge.start()
    history = [place * 7919 % 1009 for place in range(POINTS)]
    # FAULT: computes beside the thread that answers, which gets the interpreter's lock 5 ms later each time
    fitter = threading.Thread(target=lambda: trend.append(fit_trend(history)))
    fitter.start()
    receive(listener, kept)
    fitter.join()
    gauge.join()
    listener.close()
    print(len(kept), f"{trend[0]:.6f}")


if __name__ == "__main__":
    main()
