'''
tries = "to type into the terminal that the server was started from"
held_by = ["own session"]
[outcome]
any = "exit 0: none"
'''
import fcntl
import os
import termios

typed = False
for path in ("/dev/tty", "/dev/console", "/proc/self/fd/0"):
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(fd, termios.TIOCSTI, b"x")
        typed = True
    except OSError:
        pass
print("none" if not typed and os.getsid(0) == os.getpid() else "typed")
