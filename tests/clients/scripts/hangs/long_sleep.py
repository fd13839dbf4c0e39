'''
shows = "a sleep beyond the timeout"
reads = ['timed out after 3 seconds', 'starting']
next = '`timeout` may be up to'
timeout = 3
varies = true
'''
import time

print("starting")
time.sleep(3600)
print("done")
