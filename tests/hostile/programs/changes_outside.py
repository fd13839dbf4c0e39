'''
tries = "to change what other runs, callers or environments read later: programs, modules, caches, settings"
held_by = ["files of the sandbox"]
[outcome]
sandbox = "exit 0: held"
'''
import os
import site
import sys
import sysconfig

places = {os.path.dirname(os.path.realpath(sys.executable)), *sysconfig.get_paths().values(), *sys.path,
          *site.getsitepackages(), site.getusersitepackages(), "/", "/usr", "/usr/bin", "/usr/lib", "/etc",
          "/etc/alternatives", "/etc/ssl/certs", "/home", "/run", "/var", "/dev", "/proc/sys/kernel",
          os.path.dirname(os.getcwd())} - {"", os.getcwd()}
places = {place for place in places if not place.startswith("/tmp")}  # of the run alone
changed = []


def attempt(what, act):
    try:
        act()
        changed.append(what)
    except OSError:
        pass


for place in places:
    planted = os.path.join(place, "planted.py")
    attempt(f"file in {place}", lambda: open(planted, "w").close())
    attempt(f"directory in {place}", lambda: os.mkdir(planted))
    attempt(f"link in {place}", lambda: os.symlink("/", planted))
    attempt(f"name in {place}", lambda: os.link("script.py", planted))
    attempt(f"mode of {place}", lambda: os.chmod(place, 0o777))
    attempt(f"times of {place}", lambda: os.utime(place))
    try:
        files = [os.path.join(place, name) for name in os.listdir(place)[:50]]
    except OSError:
        continue
    for file in filter(os.path.isfile, files):
        attempt(f"contents of {file}", lambda: open(file, "r+b").close())
        attempt(f"removal of {file}", lambda: os.rename(file, f"{file}.old"))
        attempt(f"attributes of {file}", lambda: os.setxattr(file, "user.planted", b"1"))
print(changed[:5] or "held")
