'''
tries = "to signal processes of root, whose number it has"
held_by = ["uid of its own"]
needs = "a uid of its own"
[outcome]
any = "-"  # it has the uid of the server
"root sandbox" = "exit 0: held"
'''
import os
import signal

reached = 0
for pid in range(2, 1 << 16):
    if pid != os.getpid():
        try:
            os.kill(pid, signal.SIGCONT)
            reached += 1
        except OSError:
            pass
print(reached or "held")
