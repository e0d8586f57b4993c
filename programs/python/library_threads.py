"""Threads that execute no function of this script: Python's library starts them, and all that they call is
written in C.
"""

import threading

SIZE = 1000000

numbers = [i * 7919 % 1000003 for i in range(SIZE)]
threads = [threading.Thread(target=sorted, args=(numbers,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
