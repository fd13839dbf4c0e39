'''
shows = "more threads than there may be"
reads = ['can.t start new thread']
next = 'Use fewer'
varies = true
'''
import threading
import time

threads = [threading.Thread(target=time.sleep, args=(30,), daemon=True) for _ in range(500)]
for thread in threads:
    thread.start()
print(len(threads))
