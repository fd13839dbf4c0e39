'''
shows = "a sleep beyond the timeout"
reads = ['timed out after 3 seconds', 'starting']
next = 'it was at line 4.*`timeout` may be up to'
timeout = 3
'''
import time

print("starting")
time.sleep(3600)
print("done")
