'''
tries = "to be taken for a success although it was killed"
held_by = ["by design: the status comes from the kernel"]
[outcome]
any = "SIGKILL: fine"
'''
import os
import signal

print("fine", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
