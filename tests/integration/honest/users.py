"""getpass, pwd, grp: who the script is has a name, a home and a shell; home directories."""
import getpass
import grp
import os
import pathlib
import pwd
import subprocess

me = pwd.getpwuid(os.getuid())
print(getpass.getuser() == me.pw_name, me.pw_uid == os.getuid(), me.pw_gid == os.getgid(), me.pw_dir != "")
print(grp.getgrgid(os.getgid()).gr_gid == os.getgid(), len(pwd.getpwall()) > 0)
print(os.path.expanduser("~") == str(pathlib.Path.home()) == os.environ["HOME"])
print(subprocess.run("test $(id -un) = $(whoami) && test $(id -u) = $UID_OF_SCRIPT && echo same", shell=True,
                     env={**os.environ, "UID_OF_SCRIPT": str(os.getuid())}, stdout=subprocess.PIPE).stdout)
print(os.getuid() == os.geteuid(), os.getgid() == os.getegid(), os.getgid() in os.getgroups() + [os.getgid()])
with open("of_mine", "w") as file:
    print(os.fstat(file.fileno()).st_uid == os.getuid())
print(pathlib.Path("of_mine").owner() == me.pw_name, pathlib.Path().owner() == me.pw_name)
try:
    pwd.getpwnam("no such user")
except KeyError as error:
    print(error)
