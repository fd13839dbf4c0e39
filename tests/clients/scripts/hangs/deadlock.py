'''
shows = "two locks, taken in another order"
reads = ['timed out after 4 seconds']
next = 'it was at line 8.*`timeout` may be up to'
timeout = 4
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
