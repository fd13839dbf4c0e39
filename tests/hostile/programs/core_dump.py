'''
tries = "to leave an image of its memory behind by crashing"
held_by = ["no core files"]
[outcome]
any = "exit 0: none"
'''
import ctypes
import os
import resource

most = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
if os.fork() == 0:
    ctypes.string_at(0)
print("left" if os.WCOREDUMP(os.wait()[1]) else "none")
