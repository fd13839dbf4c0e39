"""The official conformance suite finds nothing wrong: a test for each scenario of each selection,
those that it does not score among them. CONFORMANCE_SERVER is the server of this folder, PYEXECD the
program itself, which is asked for what needs no tools made for the suite."""

import functools
import json
import os

import pytest
import suite

SERVER = os.environ["CONFORMANCE_SERVER"]
PYEXECD = os.environ["PYEXECD"]
SELECTIONS = [suite.requirements(revision) for revision in suite.REQUIRED]
SELECTIONS += [suite.everything(revision) for revision in suite.REVISIONS]

# What the program has without being made for the suite.
OWN = {
    "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping", "logging-set-level",
                   "tools-list", "prompts-list", "server-sse-multiple-streams",
                   "dns-rebinding-protection"],
    "2026-07-28": ["server-stateless", "tools-list", "prompts-list", "server-sse-multiple-streams",
                   "input-required-result-unsupported-methods", "dns-rebinding-protection",
                   "http-header-validation"],
}
# Answers to what this server has not asked, with a state to come back with, are not taken: whoever
# approves a run has seen its code. The suite sends some in a first request.
WARNED_OF = ["input-required-result-ignore-extra-params"]
OF_THE_FIXTURE = "Not testable"  # begins the message of a check that misses a tool

if not suite.INSTALLED.exists():
    pytest.skip("./dev deps installs the conformance suite", allow_module_level=True)


@functools.cache
def outcome(selection):
    with suite.served(SERVER) as url:
        return suite.run(url, *selection)


@pytest.fixture(scope="module")
def of_the_program(tmp_path_factory):
    """What the suite says of the program itself, by revision."""
    def found(revision):
        if revision not in outcomes:
            config = folder / "config.yaml"
            # An address on the command line is in place of those of the file.
            config.write_text(json.dumps({"auth": "none"}))
            config.chmod(0o600)
            with suite.served(PYEXECD, "--config", config, "--listen") as url:
                outcomes[revision] = suite.run(url, *suite.requirements(revision))
        return outcomes[revision]

    folder = tmp_path_factory.mktemp("program")
    outcomes = {}
    return found


def names(selection):
    return " ".join(selection).lstrip("-")


@pytest.mark.parametrize("selection, scenario", [
    pytest.param(tuple(selection), scenario, id=f"{names(selection)} {scenario}")
    for selection in SELECTIONS for scenario in suite.scenarios(selection)
])
def test_scenario_finds_nothing_wrong(selection, scenario):
    found = outcome(selection)
    assert found.of(scenario, "FAILURE") == []
    assert found.of(scenario, "WARNING") == [] or scenario in WARNED_OF
    assert found.checks[scenario], "the suite has checked nothing"


@pytest.mark.parametrize("selection", map(tuple, SELECTIONS), ids=names)
def test_the_suite_counts_no_failure(selection):
    found = outcome(selection)
    print(found.summary)
    assert found.code == 0, found.summary
    assert ", 0 failed" in found.summary.partition("\nTotal:")[2], found.summary


@pytest.mark.parametrize("revision, scenario", [
    (revision, scenario) for revision, scenarios in OWN.items() for scenario in scenarios])
def test_scenario_finds_nothing_wrong_with_the_program(revision, scenario, of_the_program):
    found = of_the_program(revision)
    wrong = [problem for problem in found.of(scenario, "FAILURE") if OF_THE_FIXTURE not in problem]
    assert wrong == []
    assert found.of(scenario, "SUCCESS") != []
