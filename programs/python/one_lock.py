"""Two threads that compute, of which the interpreter lets one at a time execute."""

import threading


def collatz(limit):
    longest = 0
    for start in range(1, limit):
        number, steps = start, 0
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            steps += 1
        longest = max(longest, steps)
    return longest


threads = [threading.Thread(target=collatz, args=(60000,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
