"""A launcher as tests use it: passes bytes between its own standard input and output and those of the command in its
arguments, as ssh and srun do. relay.py SECONDS COMMAND...: it says that it waits, and begins after SECONDS."""

import subprocess
import sys
import threading
import time

PIECE = 1 << 16


def pass_on(source, target):
    while piece := source.read1(PIECE):
        target.write(piece)
        target.flush()
    target.close()


def main(seconds, *command):
    if float(seconds):
        print("relay: job 17 queued and waiting for resources", file=sys.stderr, flush=True)
        time.sleep(float(seconds))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=pass_on, args=(sys.stdin.buffer, process.stdin), daemon=True).start()
    pass_on(process.stdout, sys.stdout.buffer)
    sys.exit(process.wait())


if __name__ == "__main__":
    main(*sys.argv[1:])
