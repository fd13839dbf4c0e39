"""What a million short prints cost beside plain `python3 script.py`.

Both write into a pipe that is read. The times are the processor's, measured by the script itself, so that start and
protocol do not count.
"""

import subprocess

import measure
import ours
import scripts
import starts

LIMIT = 1.05
CODE = """\
import sys, time
begun = time.process_time()
for i in range(1000000):
    print(i)
sys.stdout.flush()
print((time.process_time() - begun) * 1000, file=sys.stderr)
"""
OUTPUT_BYTES = 6888890
TIMEOUT = 300


def run(bench, seconds):
    """The report, of which lines() makes text."""
    script = scripts.Script("prints", CODE, "999999")
    path = script.write(bench.folder)

    def plain(_):
        done = subprocess.run([script.python, path], env=bench.variables, capture_output=True, text=True, check=True)
        return [float(done.stderr)]

    def called(_):
        found = ours.structured(tool)
        if found["stdout_bytes"] != OUTPUT_BYTES:
            raise RuntimeError(f"{found['stdout_bytes']} bytes")
        return [float(found["stderr"])]

    with ours.server(bench, "prints", {"it": {"type": "system", "executable": script.python}}) as server:
        tool = ours.tool(server, script, timeout=TIMEOUT)
        times = measure.take_turns({starts.BASE: plain, ours.NAME: called}, seconds, 1, 0)
    return {"ms": measure.add_ratios(measure.statistics_of(times), [starts.BASE])}


def lines(report):
    yield from ["## A million short prints", "", f"The processor's time in the script; at most {LIMIT} of plain.", "",
                *measure.times_table(report["ms"])]
