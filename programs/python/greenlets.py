"""Two greenlets that take turns, each in functions of its own: prints the processor time of each."""

import time

import greenlet

spent = {"left": 0.0, "right": 0.0}


def burn(name, seconds):
    began = time.thread_time()
    number = 0
    while time.thread_time() < began + seconds:
        for i in range(100):
            number += i * i
    spent[name] += time.thread_time() - began


def left():
    for _ in range(300):
        burn("left", 0.001)
        other.switch()


def right():
    while True:
        deep(5)
        one.switch()


def deep(depth):
    if depth == 0:
        burn("right", 0.002)
    else:
        deep(depth - 1)


one, other = greenlet.greenlet(left), greenlet.greenlet(right)
one.switch()
for name, seconds in spent.items():
    print(name, "%.6f" % seconds)
