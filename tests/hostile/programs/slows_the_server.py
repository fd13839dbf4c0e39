'''
tries = "to change limits, priority and affinity of all processes that it sees"
held_by = ["pid namespace", "fence", "engine: a PID namespace"]
[outcome]
any = "exit 0: 0"
'''
import ctypes
import os
import resource

changed = 0


def tried(change, *arguments):
    global changed
    try:
        change(*arguments)
        changed += 1
    except OSError:
        pass


for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, os.getpid()):
        pid = int(name)
        tried(resource.prlimit, pid, resource.RLIMIT_NOFILE, (3, 3))
        tried(os.setpriority, os.PRIO_PROCESS, pid, 19)
        tried(os.sched_setaffinity, pid, {0})
        tried(os.sched_setscheduler, pid, os.SCHED_IDLE, os.sched_param(0))

# Nobody may do this, so it does no harm; the error says whether it was the kernel that has refused it.
def refusal(kind):
    ctypes.set_errno(0)
    libc.syscall(SETPRIORITY, kind, 0, -20)
    return ctypes.get_errno()


SETPRIORITY, BEYOND_INT = 141, 1 << 32  # the kernel takes an int of the register
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] * 4
if os.uname().machine == "x86_64":
    changed += refusal(os.PRIO_USER) != refusal(BEYOND_INT | os.PRIO_USER)
print(changed)
