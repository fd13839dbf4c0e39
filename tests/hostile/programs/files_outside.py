'''
tries = "to read files of the machine, of its users and of other runs"
held_by = ["files of the sandbox"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: held"
"sandbox landlock" = "exit 0: held"
'''
import os
import pathlib
import sys

PLACES = ["/root", "/home", "/etc/shadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private",
          "/etc/default/useradd", "/etc/machine-id", "/var/log", "/var/lib",
          "/boot", "/opt", "/srv", "/mnt", "/sys", "/sys/fs", "/run", "/dev/shm", "/tmp"]
here = pathlib.Path.cwd()
# Of what a place holds nothing is seen but the ways to what the run has.
ways = {way for own in map(pathlib.Path, [here, sys.executable, sys.prefix, sys.base_prefix, *sys.path])
        for place in (own, own.resolve()) for way in (place, *place.parents)}
ways |= set(map(pathlib.Path, ["/sys/fs", "/sys/fs/cgroup", "/sys/fs/meminfo", "/sys/sys"]))  # its limits
found = []


def read(path):
    """A byte of PATH, or what is in it."""
    if path.is_dir():
        return [name for name in os.listdir(path) if path / name not in ways]
    with open(path, "rb") as file:
        return file.read(1)


for place in [*PLACES, *here.parents]:
    try:
        if str(place) != "/" and read(pathlib.Path(place)):
            found.append(str(place))
    except OSError:
        pass
for process in os.listdir("/proc"):
    for link in ("root", "cwd"):
        try:
            entries = os.listdir(f"/proc/{process}/{link}/")
        except OSError:
            continue
        if "boot" in entries:
            found.append(f"{process}/{link}")
print(found or "held")
