"""A node as an attacker would write one, who has taken its machine over: it greets as `pyexecd node` does, and does
then what its first argument names."""

import json
import os
import sys
import threading
import time

HELLO, READY, PING, CREDIT, ENVIRONMENT, PREPARE, START, CODE, CELLS, INTERRUPT, KILL, \
    STEP, PREPARED, BEGUN, OUT, ERRORS, CELL, ENDED, ECHO, ENTRY, CONTENT, GONE, COPIED, RETURN = range(1, 25)
HEARD = {CELLS: "cells", INTERRUPT: "an interrupt"}
GREETING = b"pyexecd wire 1\n"
PIECE = b"x" * (32 << 10)
ESCAPE = "\x1b[2J\x1b]0;owned\x07"
CELL_END = [(RETURN, b""), (COPIED, b"{}"), (CELL, b"{}")]
lock = threading.Lock()


def say(kind, channel, data=b"", **message):
    data = data or (json.dumps(message).encode() if message or kind in (READY, ENDED) else b"")
    with lock:
        sys.stdout.buffer.write(b"".join(number.to_bytes(4, "little") for number in (kind, len(data) + 4, channel)) + data)
        sys.stdout.buffer.flush()


def say_at_once(channel, frames):
    with lock:
        sys.stdout.buffer.write(b"".join(b"".join(number.to_bytes(4, "little") for number in (kind, len(data) + 4, channel)) + data
                                         for kind, data in frames))
        sys.stdout.buffer.flush()


def hear():
    while head := sys.stdin.buffer.read(12):
        kind, length, channel = (int.from_bytes(head[i:i + 4], "little") for i in (0, 4, 8))
        yield kind, channel, sys.stdin.buffer.read(length - 4)


def live():
    while True:
        time.sleep(1)
        say(PING, 0)


def deaf(channel):
    """It lives, and never ends anything."""
    say(BEGUN, channel)


def flood(channel):
    """It prints without credit and before it has begun, and reads nothing any more."""
    while True:
        say(OUT, channel, PIECE)


def chatter(channel):
    """It tells its steps as fast as it can, with orders to terminals."""
    for i in range(20000):
        say(STEP, channel, text=f"{i} {ESCAPE}", fraction=i)
    say(ENDED, channel, failure=f"enough {ESCAPE}")


def strangers(channel):
    """Frames of other channels, of other directions, twice and of other types; then the end, which is none of theirs."""
    for kind in (OUT, ERRORS, CELL, ENDED, PREPARED, CREDIT):
        say(kind, channel + 1, b"{}  ")
        say(kind, 0xFFFFFFFF, b"[]  ")
    for kind in (START, CODE, CELLS, PREPARE, ENVIRONMENT):
        say(kind, channel, b"false")
    for data in (b"[" * 9000, b"{", b'"\xff"', b'{"text": 3}', b'{"status": -7}', b"\0" * 50):
        for kind in (STEP, PREPARED):
            say(kind, channel, data[:9000])
    say(BEGUN, channel)
    say(ENDED, channel, stacks=7, left_files=[[]], leftovers=-1, returncode=1 << 40, missing=[1], devices={}, layers=1 << 40,
        limiter=77, cpu_seconds=-1e308, peak_memory=-5)
    for kind in (OUT, ENDED, CELL, PREPARED):
        say(kind, channel, b"{}")


def again(channel):
    """It says that what has run has not."""
    say(BEGUN, channel)
    say(OUT, channel, b"ran\n")
    say(ENDED, channel, refused=True, returncode=-9)


def vanished(channel):
    """It says by another word that what has run has not."""
    say(BEGUN, channel)
    say(OUT, channel, b"ran\n")
    say(ENDED, channel, vanished=True, returncode=-9)


def reversed_delivery(channel, laid_over=[True]):
    """It wants its scripts in another way each time, even of one that has printed."""
    laid_over[0] = not laid_over[0]
    say(BEGUN, channel)
    say(OUT, channel, b"ran\n")
    say(PREPARED, channel, interpreter="/usr/bin/python3", version="3.11.2", is_laid_over=laid_over[0])
    say(ENDED, channel, refused=True, returncode=-9)


def silent(channel):
    """It may have executed it, and says that it has not."""
    say(ENDED, channel, refused=True, vanished=True, returncode=-9)


def fickle(channel, laid_over=[True]):
    """It wants its scripts in another way each time, and says that it has executed none."""
    laid_over[0] = not laid_over[0]
    say(PREPARED, channel, interpreter="/usr/bin/python3", version="3.11.2", is_laid_over=laid_over[0])
    say(ENDED, channel, refused=True, returncode=-9, failure="not so")


def entry(channel, path, size=0, kind=0o100644, target="", data=b""):
    head = b"".join(number.to_bytes(length, "little") for number, length in ((kind, 4), (size or len(data), 8), (0, 8), (0, 4)))
    say(ENTRY, channel, head + path.encode() + b"\0" + target.encode())
    if data:
        say(CONTENT, channel, data)


def forge(channel, path, *more):
    """It sends a file to PATH; with "link", through a link that it has sent before; with "gone", it has lost the file."""
    say(BEGUN, channel)
    say(RETURN, channel)
    entry(channel, "first", data=b"whole")
    if "link" in more:
        entry(channel, "out", kind=0o120777, target="..")
    if "gone" in more:
        say(GONE, channel, path.encode())
    else:
        entry(channel, path, data=b"forged")
    say(COPIED, channel, b"{}")
    say(ENDED, channel, returncode=0)


def half(channel):
    """It ends within a file."""
    say(BEGUN, channel)
    say(RETURN, channel)
    entry(channel, "first", data=b"whole")
    entry(channel, "second", size=100)
    say(CONTENT, channel, b"x" * 50)
    os._exit(0)


def endless(channel):
    """It sends more than any disk has."""
    say(BEGUN, channel)
    say(RETURN, channel)
    entry(channel, "much", size=1 << 50)


def unasked(channel):
    """It sends files while its code runs."""
    say(BEGUN, channel)
    entry(channel, "early", data=b"x")


def idle(channel):
    """It begins to send a file, and goes no further. It tells what the server has taken."""
    say(BEGUN, channel)
    say(RETURN, channel)
    entry(channel, "slow", size=100)
    say(CONTENT, channel, b"x" * 50)


def stuck(channel):
    """It gives all files back, and never ends."""
    say(BEGUN, channel)
    say(RETURN, channel)
    say(COPIED, channel, b"{}")


def repeats(channel):
    """It gives files back as often as it is let."""
    say(BEGUN, channel)
    for i in range(3):
        say(RETURN, channel)
        entry(channel, f"more{i}", data=b"whole")
        say(COPIED, channel, b"{}")


def folders(channel):
    """Each of its files lies deep in folders that it has not named."""
    say(BEGUN, channel)
    say(RETURN, channel)
    for i in range(1000):
        entry(channel, f"{i}" + "/a" * 40)
    say(COPIED, channel, b"{}")
    say(ENDED, channel, returncode=0)


def lavish(channel):
    """It gives back what it was never sent."""
    say(BEGUN, channel)
    for _ in range(4):
        say(CREDIT, channel, b"\xff" * 4)


def hurried(channel):
    """It gives back, again and again, what it may have been sent, and has not read."""
    say(BEGUN, channel)
    say_at_once(channel, 4096 * [(CREDIT, (7 * len(PIECE)).to_bytes(4, "little"))])


def unsent(channel):
    """It stops the time of its code, and ends a cell that there is not."""
    say(BEGUN, channel)
    say(RETURN, channel)
    say(CELL, channel, b"{}")


def insists(channel):
    say(BEGUN, channel)


def insist(channel):
    """Its script ends a cell twice, and then once more."""
    for count in 2, 1:
        say_at_once(channel, count * CELL_END)
        time.sleep(1)


def ear(channel):
    """It executes nothing, and tells what it hears until it is told to end."""
    say(BEGUN, channel)


def dawdles(channel):
    say(BEGUN, channel)


def dawdle(channel, kind, heard=[]):
    """It ends its first cell. It stops the time of the next one while the files before it come, lets them come again, and
    never ends that cell."""
    if kind == CELLS and not heard:
        heard.append(kind)
        say_at_once(channel, CELL_END)
    elif kind == ENTRY and heard == [CELLS]:
        heard.append(kind)
        say_at_once(channel, [*CELL_END[:2], (CREDIT, bytes(4))])


def is_first():
    """No other node has asked this yet."""
    try:
        os.mkdir(os.environ["HOME"] + "/asked")
        return True
    except FileExistsError:
        return False


hasty = deaf


def own(channel):
    """A frame of the wire itself that nobody has asked for."""
    say(READY, 0)


def main(behaviour, protocol="3", greeting=GREETING.decode(), host="evil" + ESCAPE):
    """A behaviour of "mute" never comes so far as to be ready; the second "hasty" one sends files when it is asked to
    prepare."""
    sys.stdout.buffer.write(greeting.encode())
    say(HELLO, 0, protocol=int(protocol), host=host)
    threading.Thread(target=live, daemon=True).start()
    assert sys.stdin.buffer.readline() == GREETING
    for kind, channel, data in hear():
        if kind == HELLO and behaviour != "mute":
            say(READY, 0)
        elif kind == PREPARE and behaviour == "hasty" and not is_first():
            forge(channel, "early")
        elif kind == PREPARE:
            say(PREPARED, channel, interpreter="/usr/bin/python3", version="3.11.2", is_laid_over=True)
            say(ENDED, channel)
        elif kind == START:
            print("started", file=sys.stderr, flush=True)
            name, *arguments = behaviour.split(" ")
            globals()[name](channel, *arguments)
        elif kind == CELLS and behaviour == "insists":
            insist(channel)
        elif kind in HEARD and behaviour == "ear":
            print("heard", HEARD[kind], file=sys.stderr, flush=True)
        elif kind in (CELLS, ENTRY) and behaviour == "dawdles":
            say(CREDIT, channel, len(data).to_bytes(4, "little"))
            dawdle(channel, kind)
        elif kind == KILL and behaviour in ("ear", "insists", "lavish", "hurried", "unsent"):
            say(ENDED, channel, killed=True, returncode=-9)
        elif kind == CREDIT and behaviour == "idle":
            print("taken", file=sys.stderr, flush=True)
        elif kind in (ENTRY, CONTENT, GONE, CELLS):
            say(CREDIT, channel, len(data).to_bytes(4, "little"))


if __name__ == "__main__":
    main(*sys.argv[1:])
