'''
tries = "to leave a setuid or setgid program in a directory of this machine"
held_by = ["no setuid files", "profile of system calls"]
[outcome]
any = "exit 0: none"
'''
import ctypes
import os
import platform

libc = ctypes.CDLL(None)
CREATE = os.O_CREAT | os.O_WRONLY
CALLS = {  # by their numbers on x86-64
    "chmod": lambda file, mode: (90, file, mode), "fchmodat2": lambda file, mode: (452, -100, file, mode, 0),
    "creat": lambda file, mode: (85, file, mode), "open": lambda file, mode: (2, file, CREATE, mode),
    "openat2": lambda file, mode: (437, -100, file, (ctypes.c_uint64 * 3)(CREATE, mode, 0), 24),
}


def ways(name, bits):
    yield lambda: os.chmod(name, bits)
    yield lambda: os.close(os.open(f"opened-{name}", CREATE, bits))
    yield lambda: os.mknod(f"node-{name}", bits)
    yield lambda: os.link(f"/proc/self/fd/{os.open('.', os.O_TMPFILE | os.O_WRONLY, bits)}", f"unnamed-{name}")
    for call, arguments in CALLS.items() if platform.machine() == "x86_64" else ():
        yield lambda call=call, arguments=arguments: libc.syscall(*arguments(f"{call}-{name}".encode(), bits))


for bits in (0o4755, 0o2755, 0o6755):
    name = f"{bits:o}"
    for copy in (name, f"chmod-{name}", f"fchmodat2-{name}"):
        with open(copy, "w") as file:
            file.write("a program")
    for attempt in ways(name, bits):
        try:
            attempt()
        except OSError:
            pass
made = [name for name in os.listdir(".") if os.lstat(name).st_mode & 0o6000]
print(*made or ["none"])
