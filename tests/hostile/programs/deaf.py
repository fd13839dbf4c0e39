'''
tries = "to live on without hearing any signal that can be ignored"
held_by = ["deadline"]
[outcome]
any = "timeout: deaf"
'''
import signal
import time

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:  # the C library keeps some for itself
        pass
print("deaf", flush=True)
time.sleep(1000)
