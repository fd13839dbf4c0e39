"""The official suite's scenarios for clients, with `pyexecd tools` as the client."""

import os

import pytest
import suite

PYEXECD = os.path.abspath(os.environ["PYEXECD"])

if not suite.INSTALLED.exists():
    pytest.skip("./dev deps installs the conformance suite", allow_module_level=True)

SCENARIOS = [(scenario, revision) for revision in suite.REVISIONS for scenario in suite.client_scenarios(revision)]


@pytest.mark.parametrize("scenario, revision", [each for each in SCENARIOS if not suite.why_left_out(each[0])])
def test_scenario_has_no_failure(scenario, revision):
    code, said = suite.run_client(PYEXECD, scenario, revision)
    assert code == 0, said
    assert ", 0 failed, 0 warnings" in said, said


def test_what_is_left_out_is_there():
    names = {scenario for scenario, _ in SCENARIOS}
    assert all(any(name.startswith(left_out) for name in names) for left_out in suite.LEFT_OUT)
