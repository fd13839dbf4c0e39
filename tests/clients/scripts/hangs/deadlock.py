'''
shows = "two locks, taken in another order"
reads = ['timed out|timeout']
next = 'line \d+'
timeout = 1
'''
import threading
import time

one, two = threading.Lock(), threading.Lock()


def work(first, second):
    with first:
        time.sleep(0.1)
        with second:
            print("both")


other = threading.Thread(target=work, args=(one, two))
other.start()
work(two, one)
