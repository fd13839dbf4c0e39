'''
tries = "to change settings of the kernel for everybody, such as the program that gets core dumps"
held_by = ["kernel that is read only", "kernel: the files are root's", "engine: read-only mounts"]
[outcome]
any = "exit 0: 0"
"root landlock" = "-"  # root has the files of root where there is no mount namespace
"root cgroup" = "-"
'''
import os

changed = 0
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger",
             "/proc/sys/kernel/modprobe", "/proc/sys/fs/epoll/max_user_watches",
             "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled"):
    try:
        with open(path) as file:
            now = file.read()
    except OSError:  # it cannot be read, or is not there
        now = "0"
    try:
        with open(path, "r+") as file:  # what stands there already, so that nothing is harmed
            changed += 1
    except OSError:
        pass
print(changed)
