"""A launcher by which the files are spoilt that a node is to find, as a script could do that works at their place.
spoiler.py TIMES COMMAND...: TIMES of them are removed before the node hears of them."""

import json
import os
import subprocess
import sys
import threading

import false_node
import relay


def pass_on(times, target):
    target.write(sys.stdin.buffer.readline())
    for kind, channel, data in false_node.hear():
        if kind == false_node.HELLO and (times := times - 1) >= 0:
            os.remove(json.loads(data)["trial"])
        target.write(b"".join(number.to_bytes(4, "little") for number in (kind, len(data) + 4, channel)) + data)
        target.flush()
    target.close()


def main(times, *command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=pass_on, args=(int(times), process.stdin), daemon=True).start()
    relay.pass_on(process.stdout, sys.stdout.buffer)
    sys.exit(process.wait())


if __name__ == "__main__":
    main(*sys.argv[1:])
