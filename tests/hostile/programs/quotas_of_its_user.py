'''
tries = "to use up what root may have of inotify and of pipes, which the kernel counts by user"
held_by = ["uid of its own"]
needs = "a uid of its own"
[outcome]
any = "-"  # it has the uid of the server
"root sandbox" = "exit 0: held"
'''
import ctypes
import fcntl
import os

PIPE_BYTES = 1 << 20
MOST = 900  # descriptors of this process
libc = ctypes.CDLL(None)


def setting(name):
    with open(f"/proc/sys/fs/{name}") as file:
        return int(file.read())


def inotify_instances():
    count = 0
    while count < MOST and libc.inotify_init() >= 0:
        count += 1
    return count


def large_pipes():
    count = 0
    try:
        while count < MOST // 2:
            fcntl.fcntl(os.pipe()[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            count += 1
    except OSError:
        pass
    return count


# Whoever shares with nobody has all of it.
shares = []
if (pipes := large_pipes()) < min(MOST // 2, setting("pipe-user-pages-soft") * os.sysconf("SC_PAGE_SIZE") // PIPE_BYTES):
    shares.append(f"{pipes} pipes")
os.closerange(3, 1024)
if (instances := inotify_instances()) < min(MOST, setting("inotify/max_user_instances")):
    shares.append(f"{instances} instances")
print(shares or "held")
