"""fcntl: locks of files and of parts, between processes; a lock file; descriptors' flags."""
import fcntl
import os
import subprocess

file = open("lock", "w+")
fcntl.flock(file, fcntl.LOCK_EX)
print(subprocess.run(["flock", "-n", "lock", "echo", "got it"], stdout=subprocess.PIPE))
fcntl.flock(file, fcntl.LOCK_UN)
print(subprocess.run(["flock", "-n", "lock", "echo", "got it"], stdout=subprocess.PIPE))
fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
pid = os.fork()
if pid == 0:
    with open("lock", "w") as other:
        fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
        try:
            fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        except OSError as error:
            os._exit(error.errno)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(fcntl.fcntl(file, fcntl.F_GETFD), fcntl.fcntl(file, fcntl.F_GETFL) & os.O_RDWR != 0)
with open("pid", "x") as own:
    own.write("1")
try:
    open("pid", "x")
except FileExistsError as error:
    print(error.strerror)
