'''
tries = "to lease files, so that everybody who opens them waits"
held_by = ["no leases", "profile of system calls"]
[outcome]
any = "exit 0: 0"
'''
import fcntl
import sys

open("own", "w").close()
leased = 0
for path in ("own", "script.py", sys.executable, "/etc/ld.so.cache", "/etc/passwd"):
    for lease in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        try:
            with open(path, "rb") as file:
                fcntl.fcntl(file, fcntl.F_SETLEASE, lease)
                leased += 1
        except OSError:
            pass
print(leased)
