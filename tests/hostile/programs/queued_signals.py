'''
tries = "to use up the signals that may be queued for its user"
held_by = ["by design: the server needs no queued signals"]
[outcome]
any = "exit 0: queued"
'''
import ctypes
import os
import signal

libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
for _ in range(100_000):
    if libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) < 0:
        break
print("queued")
