'''
shows = "two locks, taken in another order"
reads = ['timed out after 4 seconds']
next = '`timeout` may be up to'
timeout = 4
varies = true
'''
import threading

one, two, both_hold_one = threading.Lock(), threading.Lock(), threading.Barrier(2)

def work(first, second):
    with first:
        both_hold_one.wait()
        with second:
            print("done")

threading.Thread(target=work, args=(one, two)).start()
work(two, one)
