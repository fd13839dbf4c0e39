"""Runs a program with less than this kernel offers, as a strict container or an old kernel would.

    limited.py [namespaces] [landlock] [cgroups] [epoll] -- COMMAND...

What is named is denied: namespaces, Landlock and epoll (as when its quota is used up) by a seccomp
filter, control groups by an empty folder in their place (which takes a namespace of its own, made
before the filter).
"""

import ctypes
import os
import struct
import sys

# From linux/filter.h, seccomp.h, audit.h, sched.h and the system call table of x86-64.
LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
X86_64 = 0xC000003E
CLONE, UNSHARE, CLONE3, CREATE_RULESET, EPOLL_CTL = 56, 272, 435, 444, 233
NEW_NAMESPACES = 0x7E020000
EPERM, ENOSPC, ENOSYS, EOPNOTSUPP = 1, 28, 38, 95
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def refuse(number, error):
    return [instruction(JUMP_EQUAL, number, 0, 1), instruction(RETURN, ERRNO | error)]


def program(denied):
    lines = [instruction(LOAD, ARCHITECTURE), instruction(JUMP_EQUAL, X86_64, 1, 0),
             instruction(RETURN, ALLOW), instruction(LOAD, NUMBER)]
    if "epoll" in denied:
        lines += refuse(EPOLL_CTL, ENOSPC)
    if "landlock" in denied:
        lines += refuse(CREATE_RULESET, EOPNOTSUPP)
    if "namespaces" in denied:
        lines += refuse(UNSHARE, EPERM)
        lines += refuse(CLONE3, ENOSYS)  # its flags cannot be seen; libc falls back to clone
        lines += [instruction(JUMP_EQUAL, CLONE, 0, 3), instruction(LOAD, FIRST_ARGUMENT),
                  instruction(JUMP_ANY_BIT, NEW_NAMESPACES, 0, 1),
                  instruction(RETURN, ERRNO | EPERM)]
    return b"".join(lines + [instruction(RETURN, ALLOW)])


def install(filter_program):
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = struct.pack("HxxxxxxP", len(filter_program) // 8, ctypes.addressof(code))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0):
        sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")


def main():
    split = sys.argv.index("--")
    denied, command = sys.argv[1:split], sys.argv[split + 1:]
    if "cgroups" in denied:
        rest = [name for name in denied if name != "cgroups"]
        hidden = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'
        os.execvp("unshare", ["unshare", "--map-root-user", "--mount", "sh", "-c", hidden, "sh",
                              sys.executable, __file__, *rest, "--", *command])
    install(program(denied))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
