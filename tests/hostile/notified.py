"""Starts a program whose system calls a test answers, with an error where it wants (seccomp_unotify(2)).

    notified.py NUMBERS -- COMMAND...

NUMBERS are those of the calls; execve is always among them, so that the test finds the listener before
COMMAND runs.
"""

import ctypes
import errno
import fcntl
import os
import pathlib
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import limited  # noqa: E402

SECCOMP, PIDFD_OPEN, PIDFD_GETFD, EXECVE = 317, 434, 438, 59
SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
USER_NOTIF = 0x7FC00000
RECEIVE, SEND = 0xC0502100, 0xC0182101  # struct seccomp_notif, struct seccomp_notif_resp
NOTICE, ANSWER = struct.Struct("QIIiIQ6Q"), struct.Struct("QqiI")
GOES_ON = 1
LISTENER = "anon_inode:seccomp notify"

libc = ctypes.CDLL(None, use_errno=True)


def program(numbers):
    lines = [limited.instruction(limited.LOAD, limited.ARCHITECTURE),
             limited.instruction(limited.JUMP_EQUAL, limited.X86_64, 1, 0),
             limited.instruction(limited.RETURN, limited.ALLOW),
             limited.instruction(limited.LOAD, limited.NUMBER)]
    for number in sorted({EXECVE, *numbers}):
        lines += [limited.instruction(limited.JUMP_EQUAL, number, 0, 1),
                  limited.instruction(limited.RETURN, USER_NOTIF)]
    return b"".join(lines + [limited.instruction(limited.RETURN, limited.ALLOW)])


def install(filter_program):
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = struct.pack("HxxxxxxP", len(filter_program) // 8, ctypes.addressof(code))
    libc.prctl(limited.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.syscall(SECCOMP, SET_MODE_FILTER, NEW_LISTENER, header) < 0:
        sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")


class Listener:
    """Answers the calls of the process PID and of all that it starts. DECIDE(pid, number) returns the
    errno that a call gets, or 0 where it goes on; it is called in a thread of this object."""

    def __init__(self, pid, decide):
        self.decide = decide
        self.fd = self.find(pid)
        threading.Thread(target=self.serve, daemon=True).start()

    @staticmethod
    def find(pid):
        """The listener in the process PID, as a descriptor of ours."""
        process = libc.syscall(PIDFD_OPEN, pid, 0)
        folder = f"/proc/{pid}/fd"
        while True:
            for name in os.listdir(folder):
                try:
                    if os.readlink(f"{folder}/{name}") == LISTENER:
                        fd = libc.syscall(PIDFD_GETFD, process, int(name), 0)
                        os.close(process)
                        return fd
                except FileNotFoundError:
                    pass
            time.sleep(0.001)

    def serve(self):
        notice = bytearray(NOTICE.size)
        while True:
            notice[:] = bytes(NOTICE.size)
            try:
                fcntl.ioctl(self.fd, RECEIVE, notice, True)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):  # the caller was killed meanwhile
                    continue
                return
            identity, pid, _, number, *_ = NOTICE.unpack(notice)
            number = self.decide(pid, number)
            answer = ANSWER.pack(identity, 0, -number, 0 if number else GOES_ON)
            try:
                fcntl.ioctl(self.fd, SEND, answer)
            except OSError:  # it was killed meanwhile
                pass


def main():
    split = sys.argv.index("--")
    install(program([int(number) for number in sys.argv[1:split]]))
    os.execv(sys.argv[split + 1], sys.argv[split + 1:])


if __name__ == "__main__":
    main()
