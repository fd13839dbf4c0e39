'''
tries = "to slow down all that root runs, by the priority of a user"
held_by = ["kernel: what has capabilities is slowed down by none without, and a PID namespace shows no other"]
[outcome]
any = "-"  # not root
"root sandbox" = "exit 0: held"
'''
import os

LOWEST = 19  # to which everybody may go


def others():
    """Their priorities."""
    found = {}
    for pid in range(2, 1 << 16):
        try:
            found[pid] = os.getpriority(os.PRIO_PROCESS, pid)
        except OSError:
            pass
    found.pop(os.getpid())
    return found


before = others()
try:
    os.setpriority(os.PRIO_USER, 0, LOWEST)
except OSError:  # for some of them
    pass
slowed = [pid for pid, now in others().items() if before.get(pid, LOWEST) < LOWEST == now]
print(len(slowed) or "held")
