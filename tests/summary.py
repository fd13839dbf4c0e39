"""Adds up the result files of one `./dev test` run; the last line is what counts.

Reads from a folder of results: *.json (meson's test log), *.xml (JUnit, from pytest and node),
*.status (a stage that ended badly) and sanitizer.* (reports of the sanitizers).
"""

import json
import re
import xml.etree.ElementTree as ElementTree

# AddressSanitizer of gcc 14 says so when a runner cannot be executed: its process has a stack of its own until then
# (environments/process/spawn.c). That is no error of the program.
OF_A_STACK = re.compile(r"==\d+==WARNING: ASan is ignoring requested __asan_handle_no_return: .*\n"
                        r"False positive error reports may follow\nFor details see .*\n")

OF_CMOCKA = re.compile(r"^\[ +(?:FAILED|ERROR|LINE) +\] (?:--- )?(.+?)(?:: error: Failure!)?$", re.M)


def why_a_unit_failed(result, text):
    """What meson says, and what cmocka has written in TEXT: the test, the assertion, and its place."""
    said = [line for line in OF_CMOCKA.findall(text) if "test(s)" not in line]
    return ": ".join([result, *list(dict.fromkeys(said))[:3]])


def meson_results(path):
    """Yields (test, outcome, reason) from meson's testlog.json."""
    outcomes = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
    for line in path.read_text().splitlines():
        test = json.loads(line)
        outcome = outcomes.get(test["result"], "failed")
        reason = test["result"]
        if outcome == "skipped":
            reason = " ".join(test.get("stdout", "").split()[-20:]) or "no reason given"
        if outcome == "failed":
            reason = why_a_unit_failed(reason, test.get("stdout", "") + test.get("stderr", ""))
        yield test["name"], outcome, reason


OF_A_REPORT = re.compile(r"ERROR: \w+: .*|runtime error: .*")
FRAME = re.compile(r"#\d+ \S+ in (.+)")
NOT_OURS = re.compile(r"libsanitizer|/lib/|__interceptor|cmocka")


def what_a_report_says(text):
    """The kind of a sanitizer's report, and the first three functions of ours in it."""
    kind = OF_A_REPORT.search(text)
    frames = [frame for frame in FRAME.findall(text) if not NOT_OURS.search(frame)]
    return ", ".join([kind[0] if kind else "a sanitizer's report", *frames[:3]])


def junit_results(path):
    """Yields (test, outcome, reason) from a JUnit file."""
    for case in ElementTree.parse(path).iter("testcase"):
        if (case.get("name") or "").endswith(".test.mjs") and len(case) == 0:
            continue  # node counts a file none of whose tests was wanted
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        outcome, reason = "passed", ""
        for child in case:
            if child.tag == "skipped" and outcome == "passed":
                outcome, reason = "skipped", child.get("message") or "no reason given"
            elif child.tag in ("failure", "error"):
                lines = (child.get("message") or "").splitlines()
                outcome, reason = "failed", lines[0] if lines else child.tag
        yield name, outcome, reason


def collect(folder):
    """All (test, outcome, reason), each test named after the stage it ran in."""
    results = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".json":
            found = meson_results(path)
        elif path.suffix == ".xml":
            found = junit_results(path)
        else:
            continue
        results += [(f"{path.stem}: {name}", outcome, reason) for name, outcome, reason in found]
    for path in sorted(folder.glob("*.status")):
        explained = any(
            name.startswith(f"{path.stem}: ") and outcome == "failed"
            for name, outcome, _ in results
        )
        if not explained:
            results.append((path.stem, "failed", f"ended with status {path.read_text().strip()}"))
    for path in sorted(folder.glob("sanitizer.*")):
        text = OF_A_STACK.sub("", path.read_text(errors="replace"))
        if not text.strip():
            continue
        print(text)
        results.append((path.name, "failed", f"{what_a_report_says(text)} (whole: above)"))
    return results


def report(folder, following):
    """Prints what was skipped, what failed, what to do next (FOLLOWING, if nothing failed), and how many there are; the
    exit status."""
    results = collect(folder)
    for outcome in ("skipped", "failed"):
        for name, its_outcome, reason in results:
            if its_outcome == outcome:
                print(f"{outcome}: {name}: {reason}")
    count = {
        outcome: sum(result[1] == outcome for result in results)
        for outcome in ("passed", "failed", "skipped")
    }
    print(f"Next: {'./dev test --repeat 20 NAME, how often it fails' if count['failed'] else following}")
    print(", ".join(f"{number} {outcome}" for outcome, number in count.items()))
    return count["failed"] > 0 or count["passed"] == 0
