'''
tries = "to kill every process that it may signal, the server and its supervisor too"
held_by = ["pid namespace", "signal scope", "engine: a PID namespace"]
[outcome]
any = "exit 0: alone"
'''
import os
import signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError:  # there is nobody
    pass
print("alone")
