"""A fixed amount of work in an interpreter: work.py [AMOUNT]; AMOUNT 1 is about one second of CPU time."""
import json
import sys
import time


def words(number):
    return [f"{(number * 7919 + i) % 1009:x}" for i in range(200)]


def count(list_of_words):
    table = {}
    for word in list_of_words:
        table[word] = table.get(word, 0) + len(word)
    return table


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def main():
    amount = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    total = 0
    for number in range(int(amount * 7600)):
        total += len(json.dumps(count(words(number))))
        if number % 10 == 0:
            total += fibonacci(18)
    print(json.dumps({"total": total, "cpu_s": time.process_time()}))


main()
