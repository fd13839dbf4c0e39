"""What parts of the core save: warm calls of two servers, of which one has a core without the part.

    core_parts.py BUILD [PART ...]

The servers take turns. The milliseconds of a call are the median and, of the difference, the median over all pairs; those
of the processors are of all processes of a server, so also of what is done ahead of a call.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import scripts
from stopwatch import HANDSHAKE, TICK_MS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = 250
FIRST = 30  # pairs that do not count: until then modules and footprint are learnt
GAP_SECONDS = 0.03
SCRIPTS = (scripts.HELLO, scripts.STDLIB)
PROGRAMS = ("pyexecd", "pyexecd-runner")

# The function that returns at once where there is no such part.
PARTS = {
    "exit_handlers": "exit_handlers_spare",
    "footprint": "footprint_take",
    "large_pages": "large_pages_make",
    "networks": "networks_begin",
}


def without(build, part, folder):
    """Builds in FOLDER a core without PART."""
    source = ROOT / f"environments/process/core/{part}.c"
    unit = f"pyexecd-core.so.p/environments_process_core_{part}.c.o"
    text = source.read_text()
    begin = text.index("{\n", text.index(f"\nvoid {PARTS[part]}(")) + 2
    (folder / source.name).write_text(text[:begin] + "    return;\n" + text[begin:])
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "pyexecd-core.so"], capture_output=True, text=True,
                              check=True).stdout.splitlines()
    compile_it = next(line for line in commands if f"-o {unit} " in line).replace(
        f" {os.path.relpath(source, build)}", f" {folder / source.name}")
    for line in (compile_it, commands[-1].replace("-o pyexecd-core.so ", f"-o {folder}/pyexecd-core.so ")):
        subprocess.run(line.replace(f"{unit} ", f"{folder}/unit.o "), shell=True, cwd=build, check=True)


class Server:
    def __init__(self, folder):
        (folder / "config.json").write_text('{"environments": {"it": {"type": "system", "executable": "/usr/bin/python3"}}}')
        self.process = subprocess.Popen([folder / "pyexecd", "--config", folder / "config.json"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(folder)})
        self.ask("initialize", HANDSHAKE)

    def ask(self, method, params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if "id" in answer:
                return answer["result"]

    def call(self, script):
        """The milliseconds of a call."""
        begin = time.monotonic()
        result = self.ask("tools/call", {"name": "run_python", "arguments": {"code": script.code}})
        taken = (time.monotonic() - begin) * 1000
        assert script.expect in result["content"][0]["text"], result
        return taken

    def processor(self):
        """The milliseconds that its processes, with those that have ended, have taken of the processors."""
        fields = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
            except OSError:
                pass  # it has ended
        ours = {self.process.pid}
        while more := {pid for pid, found in fields.items() if int(found[1]) in ours} - ours:
            ours |= more
        return sum(int(number) for pid in ours for number in fields[pid][11:15]) * TICK_MS

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(servers, script):
    """The milliseconds of each call, and the processor's for a call, of each of SERVERS."""
    taken = [[], []]
    for pair in range(FIRST + PAIRS):
        if pair == FIRST:
            before = [server.processor() for server in servers]
        for index in (0, 1) if pair % 2 else (1, 0):
            taken[index].append(servers[index].call(script))
            time.sleep(GAP_SECONDS)
    processor = [(server.processor() - least) / PAIRS for server, least in zip(servers, before)]
    return [times[FIRST:] for times in taken], processor


def compare(servers, part, script):
    (here, gone), (used, more) = measure(servers, script)
    base = statistics.median(here)
    longer = statistics.median(b - a for a, b in zip(here, gone))
    print(f"without {part}, a call of {script.title}, {base:.2f} ms, takes {longer:+.2f} ms ({longer / base:+.0%}), "
          f"and of {used:.2f} ms of the processors {more - used:+.2f} ms ({(more - used) / used:+.0%})", flush=True)


def compare_part(build, part, folder):
    folders = [folder / "with", folder / "without"]
    for place in folders:
        place.mkdir(parents=True)
        for name in (*PROGRAMS, "pyexecd-core.so"):
            shutil.copy2(build / name, place)
    without(build, part, folders[1])
    for script in SCRIPTS:
        servers = [Server(place) for place in folders]
        try:
            compare(servers, part, script)
        finally:
            for server in servers:
                server.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD", help="a build directory without sanitizers")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; else all")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    for part in arguments.parts or PARTS:
        folder = build / "core_parts" / part
        shutil.rmtree(folder, ignore_errors=True)
        compare_part(build, part, folder)


if __name__ == "__main__":
    main()
