'''
tries = "to move into another cgroup, and to lift the limits of its own"
held_by = ["cover of the cgroups", "kernel: the files are root's", "engine: read-only mounts"]
[outcome]
namespace = "exit 0: 0"
landlock = "exit 0: 0"
cgroup = "-"  # as root it can, as docs/security.md says; another_cgroup.py has what comes of it
docker = "exit 0: 0"
'''
import os

written = 0
for folder, _, files in os.walk("/sys/fs/cgroup"):
    for name in {"cgroup.procs", "tasks", "memory.max", "memory.limit_in_bytes", "pids.max"} & {*files}:
        try:
            with open(f"{folder}/{name}", "w") as file:
                file.write("0" if name in ("cgroup.procs", "tasks") else "-1")
            written += 1
        except OSError:
            pass
print(written)
