'''
tries = "to see the cgroups again in a user namespace of its own, where it may mount"
held_by = ["no further user namespaces", "profile of system calls", "level: no user namespaces"]
[outcome]
any = "exit 0: refused"
"user namespace" = "-"  # no cgroup limits it
"root landlock" = "-"
'''
import ctypes
import os

NEW_USER_AND_MOUNT = 0x10020000
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(NEW_USER_AND_MOUNT) < 0:
    print("refused")
else:
    os.makedirs("view", exist_ok=True)
    print("mounted", libc.mount(b"none", b"view", b"cgroup2", 0, None))
