'''
tries = "to keep its supervisor from watching, by a limit of no descriptors"
held_by = ["fence", "by design: a supervisor that cannot watch ends all"]
limit = 50
[outcome]
namespace = "SIGKILL"  # it reaches its supervisor, which ends all
cgroup = "exit 0: refused"
landlock = "exit 0: refused"
docker = "SIGKILL"
'''
import os
import resource
import time

try:
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
except PermissionError:
    print("refused", flush=True)
    os._exit(0)
if os.fork() == 0:
    if os.fork() == 0:
        time.sleep(0.05)  # the end of an orphan wakes the supervisor
    os._exit(0)
os.wait()
time.sleep(1000)
