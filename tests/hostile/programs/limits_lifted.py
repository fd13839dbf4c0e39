'''
tries = "to lift its own resource limits"
held_by = ["no capabilities of the machine", "kernel: a user namespace gives no right to it"]
[outcome]
any = "exit 0: 0"
'''
import resource

lifted = 0
for name in ("NOFILE", "NPROC", "FSIZE", "CORE", "MSGQUEUE", "DATA", "NICE", "RTPRIO", "MEMLOCK"):
    number = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(number)[1]
    if hard == resource.RLIM_INFINITY:
        continue
    try:
        resource.setrlimit(number, (hard + 1, hard + 1))
        lifted += 1
    except (OSError, ValueError):
        pass
print(lifted)
