'''
tries = "to leave a setuid program of root in a directory of this machine"
held_by = ["profile of system calls"]
[outcome]
any = "-"  # its user's own files are its own; only a container may have an owner with fewer rights
docker = "exit 0: none"
'''
import os
import shutil
import sys

made = []
for number, bits in enumerate((0o4755, 0o2755, 0o6755)):
    shutil.copyfile(sys.executable, f"copied{number}")
    for attempt in (lambda: os.chmod(f"copied{number}", bits),
                    lambda: os.close(os.open(f"opened{number}", os.O_CREAT | os.O_WRONLY, bits)),
                    lambda: os.mknod(f"node{number}", bits)):
        try:
            attempt()
        except OSError:
            pass
for name in os.listdir("."):
    if os.stat(name).st_mode & 0o6000:
        made.append(name)
print(*made or ["none"])
