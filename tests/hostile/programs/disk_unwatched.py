'''
tries = "to fill the disk by files without a name while its supervisor can open nothing to look"
held_by = ["by design: a supervisor that cannot watch ends all"]
[outcome]
namespace = "SIGKILL.*"  # it reaches its supervisor, which ends all
any = "-"  # elsewhere it cannot be reached, or, in a container, looks in vain
'''
import os
import resource
import time

WATCHED = 3  # descriptors that the supervisor polls

resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (WATCHED, 1024))
for number in range(6):
    fd = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    os.write(fd, b"x" * (8 << 20))
print("written", flush=True)
time.sleep(15)
