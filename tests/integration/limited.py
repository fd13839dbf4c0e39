"""Runs a program with less than this kernel offers, as a strict container or an old kernel would.

    limited.py WHAT... -- COMMAND...

What is named is denied:

    namespaces     all of them, and Landlock and epoll (as when its quota is used up), by a seccomp filter
    landlock
    epoll
    CALL=ERROR     the system call, with that errno: openat2=ENOSYS. More than one: openat2,statx=EPERM
    CLONE_X=ERROR  one kind of namespace: CLONE_NEWNET=EPERM
    docker         what Docker's default profile denies, as it denies it
    cgroups        control groups, by an empty folder in their place
    cgroup.kill    those of version 2, likewise
    proc           writing in /proc, so that no namespace gets a user

The last three take a namespace, which is made before the filter.
"""

import ctypes
import errno
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
KINDS = {"CLONE_NEWNS": 1 << 17, "CLONE_NEWCGROUP": 1 << 25, "CLONE_NEWUTS": 1 << 26, "CLONE_NEWIPC": 1 << 27,
         "CLONE_NEWUSER": 1 << 28, "CLONE_NEWPID": 1 << 29, "CLONE_NEWNET": 1 << 30}
EPERM, ENOSPC, ENOSYS, EOPNOTSUPP = 1, 28, 38, 95
# Of what it allows only with CAP_SYS_ADMIN, or not at all, what concerns us.
DOCKER = ["namespaces", "mount,umount2,pivot_root,move_mount,open_tree,mount_setattr,setns=EPERM",
          "fsopen,fsconfig,fsmount,fspick,sethostname,setdomainname,keyctl,add_key,request_key=EPERM"]
HIDING = {
    "cgroups": "mount -t tmpfs none /sys/fs/cgroup",
    "cgroup.kill": "findmnt -rno TARGET -t cgroup2 | while read place; do mount -t tmpfs none $place; done",
    "proc": "mount -o remount,bind,ro /proc",
}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def refuse(number, error):
    return [instruction(JUMP_EQUAL, number, 0, 1), instruction(RETURN, ERRNO | error)]


def refuse_kind(call, flags, error):
    return [instruction(JUMP_EQUAL, call, 0, 4), instruction(LOAD, FIRST_ARGUMENT),
            instruction(JUMP_ANY_BIT, flags, 0, 1), instruction(RETURN, ERRNO | error),
            instruction(LOAD, NUMBER)]


def call_number(name):
    number = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        raise LookupError(f"no such system call on this machine: {name}")
    return number


def refuse_named(names, error):
    """NAMES, with commas, are of calls or of kinds of namespaces."""
    number = getattr(errno, error)
    if names in KINDS:
        return refuse_kind(UNSHARE, KINDS[names], number) + refuse_kind(CLONE, KINDS[names], number)
    lines = []
    for name in names.split(","):
        lines += refuse(call_number(name), number)
    return lines


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
        lines += refuse_kind(CLONE, NEW_NAMESPACES, EPERM)
    for name in denied:
        if "=" in name:
            lines += refuse_named(*name.split("="))
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
    hiding = [HIDING[name] for name in denied if name in HIDING]
    if hiding:
        rest = [name for name in denied if name not in HIDING]
        os.execvp("unshare", ["unshare", "--map-root-user", "--mount", "sh", "-ec",
                              "\n".join([*hiding, 'exec "$@"']), "sh",
                              sys.executable, __file__, *rest, "--", *command])
    if "docker" in denied:
        denied = denied + DOCKER
    install(program(denied))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
