'''
shows = "more threads than there may be"
reads = ['can.t start new thread']
next = '(64|limit|threads)'
'''
import threading
import time

threads = [threading.Thread(target=time.sleep, args=(1,)) for _ in range(500)]
for thread in threads:
    thread.start()
print(len(threads))
