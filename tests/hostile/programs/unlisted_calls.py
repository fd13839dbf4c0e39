'''
tries = "system calls that no honest script needs, where the holes of the kernel are"
held_by = ["listed calls"]
[outcome]
any = "-"  # nothing but a sandbox keeps it from that
sandbox = "exit 0: held"
"sandbox landlock" = "exit 0: held"
'''
import ctypes
import errno
import platform

libc = ctypes.CDLL(None, use_errno=True)
PAGE = ctypes.create_string_buffer(4096)
CALLS = {  # by their numbers on x86-64
    "ptrace": (101, 0, 0, 0, 0), "syslog": (103, 10, 0, 0), "uselib": (134, 0), "acct": (163, 0),
    "add_key": (248, b"user", b"x", b"x", 1, -4), "request_key": (249, b"user", b"x", None, 0),
    "keyctl": (250, 0, -4, 0), "kexec_load": (246, 0, 0, 0, 0), "perf_event_open": (298, PAGE, 0, -1, -1, 0),
    "name_to_handle_at": (303, -100, b"/", PAGE, PAGE, 0), "open_by_handle_at": (304, -100, PAGE, 0),
    "process_vm_readv": (310, 1, PAGE, 1, PAGE, 1, 0), "process_vm_writev": (311, 1, PAGE, 1, PAGE, 1, 0),
    "kcmp": (312, 1, 1, 0, 0, 0), "finit_module": (313, 0, b"", 0), "bpf": (321, 0, PAGE, 8),
    "userfaultfd": (323, 0), "io_uring_setup": (425, 1, PAGE), "io_uring_enter": (426, 0, 0, 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0), "quotactl": (179, 0, 0, 0, 0), "lookup_dcookie": (212, 0, 0, 0),
    "fanotify_init": (300, 0, 0), "unshare": (272, 1 << 28), "setns": (308, 0, 0), "iopl": (172, 3),
}
REFUSALS = {errno.EPERM, errno.ENOSYS}
if platform.machine() != "x86_64":
    CALLS = {}
allowed = []
for name, arguments in CALLS.items():
    ctypes.set_errno(0)
    if libc.syscall(*arguments) >= 0 or ctypes.get_errno() not in REFUSALS:
        allowed.append(name)
print(allowed or "held")
