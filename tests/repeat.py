#!/usr/bin/python3
"""Repeats tests beside an artificial load, and tells how often each has failed and how.

    tests/repeat.py N PATTERN [--quiet-machine]

What `./dev test PATTERN` runs, runs here N times, in the same stages (stages.py) of what is built.
Meanwhile every processor has a process that is always busy; with --quiet-machine there is none.
A stage without a test that PATTERN names is left out from the second round on. What the stages print
and their result files are in build/repeat-results/ROUND. The last line is the count over all rounds.
"""

import argparse
import collections
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

import stages
import summary

FOLDER = stages.BUILD / "repeat-results"
# Ended by the kernel when nobody else could do it, because this program was killed.
BUSY = ["setpriv", "--pdeathsig=KILL", "sh", "-c", "while :; do :; done"]
OUTCOMES = ("passed", "failed", "skipped")


@contextlib.contextmanager
def load():
    """Keeps every processor busy."""
    busy = []
    try:
        for _ in range(os.cpu_count()):
            busy.append(subprocess.Popen(BUSY, stdin=subprocess.DEVNULL))
        yield
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()


class Rounds:
    """The rounds so far. COPY is the tree of a user without rights, as in stages.py."""

    def __init__(self, pattern, copy):
        self.pattern = pattern
        self.copy = copy
        self.matching = None  # the names of stages that have tests; not known before the first round
        self.count = collections.Counter()
        self.failures = collections.defaultdict(collections.Counter)  # messages by test

    def go_round(self, name):
        """One round, with its files in a folder NAME; the tests that failed."""
        stages.RESULTS = FOLDER / name
        stages.RESULTS.mkdir(parents=True)
        with open(stages.RESULTS / "output.txt", "w", encoding="utf-8") as output, \
                contextlib.redirect_stdout(output):
            with stages.sanitizer_reports():
                ran = self.run_stages()
            results = [result for result in summary.collect(stages.RESULTS)
                       if stage_of(result) in ran or stage_of(result).startswith("sanitizer.")]
        self.matching = {stage_of(result) for result in results}
        for test, outcome, reason in results:
            self.count[outcome] += 1
            if outcome == "failed":
                self.failures[test][reason.partition("\n")[0]] += 1
        return [test for test, outcome, _ in results if outcome == "failed"]

    def run_stages(self):
        """Runs the stages that have tests, or may have some, as stages.py does; the names of those that have."""
        run = stages.Run()
        suite = stages.Suite(argparse.Namespace(pattern=self.pattern, long=True, release=False), self.copy)
        ran = set()
        try:
            for those, lanes in (suite.side_by_side, 4), (suite.alone, 1):
                chosen = [stage for stage in those() if self.matching is None or stage.name in self.matching]
                forget_results(chosen)
                run.side_by_side(chosen, lanes)
                ran |= {stage.name for stage in chosen if not is_empty(stage)}
        finally:
            run.end()
        return ran


def stage_of(result):
    """The name of the stage that RESULT of `summary.collect` comes from."""
    return result[0].partition(": ")[0]


def is_empty(stage):
    """Whether pytest has found no test for it. A file that is skipped as a whole is in its results all the same."""
    return "pytest" in stage.command and stage.process and stage.process.returncode == stages.NOTHING_MATCHES


def forget_results(chosen):
    """A stage that comes to no result may not show that of the round before."""
    for stage in chosen:
        if stage.result:
            stage.result.unlink(missing_ok=True)


def counted(count):
    return ", ".join(f"{count[outcome]} {outcome}" for outcome in OUTCOMES)


def print_table(failures, rounds):
    """How often each test failed of ROUNDS, and each of its messages."""
    for test, messages in sorted(failures.items()):
        print(f"\n{test}: failed in {sum(messages.values())} of {rounds} rounds")
        for message, times in messages.most_common():
            print(f"    {times} times: {message}")
    print()


def repeat(rounds, pattern):
    """Runs all ROUNDS and prints what comes of them; the exit status."""
    with stages.Copy() if os.geteuid() == 0 else contextlib.nullcontext() as copy:
        so_far = Rounds(pattern, copy)
        for number in range(1, rounds + 1):
            begun = time.monotonic()
            failed = so_far.go_round(str(number))
            print(f"round {number} of {rounds}: {time.monotonic() - begun:.0f} s, "
                  f"{'failed: ' + ', '.join(failed) if failed else 'nothing failed'}", flush=True)
            if not so_far.matching:
                print(f"no test has {pattern} in its file or name")
                break
    print_table(so_far.failures, rounds)
    print(counted(so_far.count))
    return so_far.count["failed"] > 0 or so_far.count["passed"] == 0


def main():
    parser = argparse.ArgumentParser(description="Repeats tests beside an artificial load.")
    parser.add_argument("rounds", type=int, metavar="N")
    parser.add_argument("pattern", metavar="PATTERN")
    parser.add_argument("--quiet-machine", action="store_true", help="without the load")
    chosen = parser.parse_args()
    if chosen.rounds < 1:
        parser.error("N has to be at least 1")
    shutil.rmtree(FOLDER, ignore_errors=True)
    stages.environment(False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stages.on_signal)
    with contextlib.nullcontext() if chosen.quiet_machine else load():
        return repeat(chosen.rounds, chosen.pattern)


if __name__ == "__main__":
    sys.exit(main())
