'''
tries = "to change what other runs, callers or environments read later: programs, modules, caches, settings"
held_by = ["files of the sandbox", "kernel: the files are root's"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: held"
"sandbox landlock" = "exit 0: held"
'''
import os
import site
import stat
import sys
import sysconfig

places = {os.path.dirname(os.path.realpath(sys.executable)), *sysconfig.get_paths().values(), *sys.path,
          *site.getsitepackages(), site.getusersitepackages(), "/", "/usr", "/usr/bin", "/usr/lib", "/etc",
          "/etc/alternatives", "/etc/ssl/certs", "/home", "/run", "/var", "/dev", "/proc/sys/kernel",
          os.path.dirname(os.getcwd())} - {"", os.getcwd()}
places = {place for place in places if not place.startswith("/tmp")}  # of the run alone
changed = []


def attempt(what, act, undo=lambda: None):
    """Where nothing holds it, it leaves the machine as it was."""
    try:
        act()
    except OSError:
        return
    changed.append(what)
    undo()


def inode(what, place, act):
    """ACT changes nothing of PLACE but the time at which it was last changed."""
    before = os.stat(place)
    try:
        act(before)
    except OSError:
        return
    if os.stat(place).st_ctime_ns != before.st_ctime_ns:
        changed.append(f"{what} of {place}")


def attribute(file):
    attempt(f"attributes of {file}", lambda: os.setxattr(file, "user.planted", b"1"),
            lambda: os.removexattr(file, "user.planted"))


def name(file):
    attempt(f"name of {file}", lambda: os.link(file, f"{file}.planted"), lambda: os.unlink(f"{file}.planted"))


for place in places:
    planted = os.path.join(place, "planted.py")
    attempt(f"file in {place}", lambda: open(planted, "x").close(), lambda: os.unlink(planted))
    attempt(f"directory in {place}", lambda: os.mkdir(planted), lambda: os.rmdir(planted))
    attempt(f"link in {place}", lambda: os.symlink("/", planted), lambda: os.unlink(planted))
    attempt(f"name in {place}", lambda: os.link("script.py", planted), lambda: os.unlink(planted))
    if os.path.isdir(place):
        inode("mode", place, lambda status: os.chmod(place, stat.S_IMODE(status.st_mode)))
        inode("owner", place, lambda status: os.chown(place, status.st_uid, -1))
        inode("times", place, lambda status: os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns)))
    try:
        files = [os.path.join(place, name) for name in os.listdir(place)[:50]]
    except OSError:
        continue
    for file in filter(os.path.isfile, files):
        attempt(f"contents of {file}", lambda: open(file, "r+b").close())
        name(file)
        attribute(file)
print(changed[:5] or "held")
