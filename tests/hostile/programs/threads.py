'''
tries = "to use up all thread numbers of its user"
held_by = ["limit on processes"]
[outcome]
any = "exit 0: few"
"root landlock" = "-"  # nothing limits the processes of uid 0 there, as the receipt says
'''
import os
import threading
import time

started = 0
try:
    for started in range(1000):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
except RuntimeError:
    pass
print("few" if started < 100 else started, flush=True)
os._exit(0)
