'''
tries = "to leave files in /dev/shm, which are memory"
held_by = ["shared memory of its own", "engine: a mount namespace"]
[outcome]
any = "exit 0: left"
landlock = "-"  # without a mount namespace it stays, as docs/security.md says
cgroup = "-"
'''
import os

mark = os.environ["PYEXECD_TEST_MARK"]
with open(f"/dev/shm/hostile-{mark}", "wb") as file:
    file.write(b"x" * 4096)
print("left")
