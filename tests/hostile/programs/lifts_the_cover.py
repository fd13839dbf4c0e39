'''
tries = "to find the machine's root under what covers it in the sandbox"
held_by = ["cover of the machine", "level: the root is the machine's, and rules for files hold it"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: held"
"sandbox landlock" = "exit 0: held"
'''
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
COVER = b"/sys"
DETACH, NEW_USER, NEW_MOUNTS, BIND, MOVE, OPEN_TREE_CLONE, RECURSIVE = 2, 1 << 28, 1 << 17, 1 << 12, 1 << 13, 1, 0x8000
found = []


def look(what):
    """Notes WHAT if the machine's root can be seen."""
    try:
        if "etc" in os.listdir(COVER):
            found.append(what)
    except OSError:
        pass


os.makedirs("place", exist_ok=True)
look("at once")
for flags in (0, NEW_MOUNTS, NEW_USER | NEW_MOUNTS):
    if flags and libc.unshare(flags) < 0:
        continue
    for path in (COVER, b"/sys/.", b"/sys/../sys"):
        libc.umount2(path, DETACH)
        libc.umount2(path, 0)
        libc.mount(path, b"place", None, BIND, None)
        libc.mount(path, b"place", None, MOVE, None)
        look(f"umount {path}")
        if os.listdir("place"):
            found.append(f"bind {path}")
    tree = libc.syscall(428, -100, b"/", OPEN_TREE_CLONE | RECURSIVE)
    if tree >= 0:
        found.append("open_tree")
    if libc.syscall(155, b"place", b"place") == 0:
        found.append("pivot_root")
for path in ("/proc/1/root/sys/etc", "/proc/self/root/sys/etc", "/sys/../sys/etc"):
    if os.path.exists(path):
        found.append(path)
print(found or "held")
