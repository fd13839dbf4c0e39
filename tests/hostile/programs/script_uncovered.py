'''
tries = "to uncover, rename or change the file that it runs from, so that others run another one"
held_by = ["script under a mount"]
[outcome]
namespace = "exit 0: held"
docker = "exit 0: held"
cgroup = "-"  # script.py itself is executed, by a run that has the directory to itself
landlock = "-"
'''
import ctypes
import os

libc = ctypes.CDLL(None)
EXCHANGE, DETACH, NEW_MOUNTS, NEW_USER, AT_FDCWD = 2, 2, 0x20000, 0x10000000, -100


def change(path):
    """What of PATH could be changed."""
    with open("planted", "w") as file:
        file.write("print(666)")
    other = os.fsencode(f"{path}.old")
    acts = {
        "replace": lambda: os.rename("planted", path),
        "link": lambda: os.link("planted", path),
        "rename": lambda: os.rename(path, other),
        "remove": lambda: os.remove(path),
        "write": lambda: open(path, "w").close(),
        "truncate": lambda: os.truncate(path, 0),
        "chmod": lambda: os.chmod(path, 0o666),
    }
    for name, act in acts.items():
        try:
            act()
            yield name
        except OSError:
            pass
    if libc.renameat2(AT_FDCWD, b"planted", AT_FDCWD, os.fsencode(path), EXCHANGE) == 0:
        yield "exchange"
    if libc.umount2(os.fsencode(path), DETACH) == 0:
        yield "unmount"


done = []
here = os.path.realpath("script.py")
file = os.open(here, os.O_RDONLY)
for flags in (0, NEW_MOUNTS, NEW_USER | NEW_MOUNTS):
    if flags and libc.unshare(flags) < 0:
        continue
    for path in ("script.py", here, "/proc/self/cwd/script.py", f"/proc/self/root{here}"):
        done += change(path)
try:
    os.close(os.open(f"/proc/self/fd/{file}", os.O_WRONLY))
    done.append("reopen")
except OSError:
    pass
print(done or "held")
