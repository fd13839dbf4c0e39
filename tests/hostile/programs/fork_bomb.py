'''
tries = "to fork faster than it is killed, without hearing any signal"
held_by = ["deadline"]
[outcome]
any = "timeout: forking"
"root landlock" = "-"  # nothing limits the processes of uid 0 there, as the receipt says
'''
import os
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print("forking", flush=True)
while True:
    try:
        os.fork()
    except OSError:
        pass
