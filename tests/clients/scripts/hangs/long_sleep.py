'''
shows = "a sleep beyond the timeout"
reads = ['timed out|timeout', 'starting']
next = 'line 4|sleep'
timeout = 1
'''
import time

print("starting")
time.sleep(3600)
print("done")
