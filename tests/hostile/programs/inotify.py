'''
tries = "to use up the inotify instances of its user"
held_by = ["by design: the server uses no inotify"]
[outcome]
any = "exit 0: used"
'''
import ctypes

libc = ctypes.CDLL(None)
for _ in range(1000):
    if libc.inotify_init() < 0:
        break
print("used")
