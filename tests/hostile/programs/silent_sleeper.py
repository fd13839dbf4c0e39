'''
tries = "to run for ever after both its streams have ended"
held_by = ["deadline"]
[outcome]
any = "timeout: closing"
'''
import os
import time

print("closing", flush=True)
os.closerange(0, 4096)
time.sleep(1000)
