'''
tries = "to change limits, priority and affinity of all processes that it sees"
held_by = ["pid namespace", "fence"]
[outcome]
any = "exit 0: 0"
'''
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
print(changed)
