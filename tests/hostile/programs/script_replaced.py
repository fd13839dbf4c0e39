'''
tries = "to put other things in the place of its script while it runs"
held_by = ["by design: each run gets its script anew"]
[outcome]
any = "(timeout|exit 0): (replacing|kept)"
'''
import os
import time

print("replacing", flush=True)
end = time.monotonic() + 1
kinds = [lambda: os.symlink("/etc/passwd", "new"), lambda: os.mkfifo("new"), lambda: os.mkdir("new"),
         lambda: open("new", "w").close()]
while time.monotonic() < end:
    for kind in kinds:
        try:
            kind()
            os.rename("new", "script.py")
        except OSError:
            for remove in (os.unlink, os.rmdir):
                for name in ("new", "script.py"):
                    try:
                        remove(name)
                    except OSError:
                        pass
print("kept")
