"""The official suite's scenarios for clients, with `pyexecd tools` as the client."""

import os
import pathlib
import subprocess
import sys

import pytest

import suite

HERE = pathlib.Path(__file__).resolve().parent
PYEXECD = pathlib.Path(os.environ.get("PYEXECD", "build/pyexecd")).resolve()

# Those about OAuth are left out: an operator gives a token in `headers`. So are those that want a person's answer to a
# question of the server, which nobody here can give: sep-2322-client-request-state and elicitation-sep1034-client-defaults.
SCENARIOS = [
    ("initialize", "2025-11-25"), ("tools_call", "2025-11-25"), ("sse-retry", "2025-11-25"),
    ("json-schema-2020-12-preservation", "2025-11-25"),
    ("tools_call", "2026-07-28"), ("request-metadata", "2026-07-28"), ("http-standard-headers", "2026-07-28"),
    ("http-custom-headers", "2026-07-28"), ("http-invalid-tool-headers", "2026-07-28"),
    ("json-schema-ref-no-deref", "2026-07-28"),
]


@pytest.mark.skipif(not suite.SUITE.exists() or not PYEXECD.exists(), reason="needs the suite and the program")
@pytest.mark.parametrize("scenario, revision", SCENARIOS)
def test_scenario_has_no_failure(scenario, revision, tmp_path):
    client = f"{sys.executable} {HERE / 'suite_client.py'} {PYEXECD}"
    done = subprocess.run(suite.command("client", "--scenario", scenario, "--spec-version", revision, "--command", client,
                                        "-o", str(tmp_path)), capture_output=True, text=True, timeout=suite.LIMIT_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 failed" in done.stderr
