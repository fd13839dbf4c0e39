'''
tries = "the same with several at once, until the time is over"
held_by = ["deadline"]
[outcome]
any = "timeout: running"
'''
import os
import time

for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        while True:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:  # as many as there may be
                pass
print("running", flush=True)
time.sleep(1000)
