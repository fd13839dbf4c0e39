"""The program on a terminal of its own, and what can be seen there."""

import contextlib
import os
import pty
import re
import select
import subprocess
import time

CONTAINMENT = re.compile(r"^pyexecd: containment is weaker .*\r?\n", re.MULTILINE)


def on_terminal(*arguments, columns=80, typed=b"", **variables):
    """Runs the program to its end, which is typed once it has written something; its exit code, and all that was
    written. What this machine's containment lacks is left out."""
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **variables}
    pid, fd = pty.fork()
    if pid == 0:
        with contextlib.suppress(Exception):
            subprocess.run(["stty", "cols", str(columns), "rows", "24"], check=False)
            os.execve(os.environ["PYEXECD"], [os.environ["PYEXECD"], *map(str, arguments)],
                      environment)
        os._exit(127)
    written = b""
    deadline = time.monotonic() + 180
    with contextlib.suppress(OSError):  # EIO: nobody writes to it any more
        while select.select([fd], [], [], max(0, deadline - time.monotonic()))[0]:
            if not (data := os.read(fd, 65536)):
                break
            written += data
            os.write(fd, typed)
            typed = b""
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return os.waitstatus_to_exitcode(status), CONTAINMENT.sub("", written.decode())


def screen(text):
    """What is left to be seen of TEXT: lines, after carriage returns and clearing."""
    rows, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[\d*[A-Za-z]|.|\n|\r", text, re.DOTALL):
        if token == "\r":
            column = 0
        elif token == "\n":
            row += 1
            if row == len(rows):
                rows.append("")
        elif token == "\x1b[J":
            rows[row:] = [rows[row][:column]]
        elif token == "\x1b[K":
            rows[row] = rows[row][:column]
        elif token.endswith("F") and token.startswith("\x1b"):
            row, column = row - int(token[2:-1]), 0
        else:
            assert not token.startswith("\x1b"), f"unexpected {token!r}"
            rows[row] = rows[row][:column].ljust(column) + token + rows[row][column + 1:]
            column += 1
    return [each for each in rows if each]
