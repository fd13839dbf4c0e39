"""Starts a program with listening sockets, as a service manager does (sd_listen_fds(3)).

    hand_over.py NAME=DESCRIPTOR... -- COMMAND...
"""

import fcntl
import os
import sys

FIRST = 3
ABOVE = 64  # no descriptor of this program is there


def main(sockets, command):
    names = [each.partition("=")[0] for each in sockets]
    kept = [fcntl.fcntl(int(each.partition("=")[2]), fcntl.F_DUPFD, ABOVE) for each in sockets]
    for number, descriptor in enumerate(kept, FIRST):
        os.dup2(descriptor, number)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(kept)), LISTEN_FDNAMES=":".join(names))
    os.execv(command[0], command)


if __name__ == "__main__":
    end = sys.argv.index("--")
    main(sys.argv[1:end], sys.argv[end + 1:])
