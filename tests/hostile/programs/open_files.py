'''
tries = "to use up the descriptors of the machine"
held_by = ["limit on open files"]
[outcome]
any = "exit 0: few"
'''
import os

opened = 0
try:
    while opened < 100_000:
        os.dup(0)
        opened += 1
except OSError:
    pass
print("few" if opened < 1100 else opened)
