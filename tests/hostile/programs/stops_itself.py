'''
tries = "to hold its place for ever by stopping itself"
held_by = ["deadline"]
[outcome]
any = "timeout: stopping"
'''
import os
import signal

print("stopping", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
