"""pty and termios: a terminal of its own, a program that runs in it, its size and modes; terminfo."""
import curses
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import tty

master, slave = pty.openpty()
print(os.isatty(slave), os.ttyname(slave).startswith("/dev/pts/"))
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("4H", 30, 100, 0, 0))
print(subprocess.run(["stty", "size"], stdin=slave, stdout=subprocess.PIPE).stdout)
tty.setraw(slave)
os.write(master, b"raw")
print(os.read(slave, 3))
child = subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.isatty())"], stdin=slave, stdout=slave)
print(child.returncode, os.read(master, 100))
os.close(slave)

output = []
print(pty.spawn(["sh", "-c", "tty >/dev/null && echo on a terminal"],
                lambda fd: output.append(os.read(fd, 100)) or output[-1]), len(output) > 0)
for terminal in ("xterm", "xterm-256color", "vt100"):
    curses.setupterm(terminal, 1)
    print(curses.tigetnum("colors"), curses.tigetstr("clear"))
