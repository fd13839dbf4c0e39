"""What a forge reads: the workflows are valid and call ./dev only, and the issue forms can be shown."""

import json
import re
import subprocess

import installed
import pytest

FORGE = installed.ROOT / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (FORGE / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
LOAD = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"


def read(path):
    """The content of the YAML file at PATH."""
    return json.loads(subprocess.run([installed.python("agents"), "-c", LOAD], input=path.read_text(), text=True,
                                     capture_output=True, check=True).stdout)


def test_workflows_are_valid():
    actionlint = installed.DEPS / "registry/bin/actionlint"
    if not actionlint.exists():
        pytest.skip("no actionlint: ./dev deps installs it")
    done = subprocess.run([actionlint, *WORKFLOWS], cwd=installed.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_is_typed_by_people_too(path):
    known = set(re.findall(r"^  ([a-z]+)", subprocess.run([installed.ROOT / "dev"], capture_output=True, text=True).stdout, re.M))
    steps = [step for job in read(path)["jobs"].values() for step in job["steps"]]
    typed = [step["run"] for step in steps if "run" in step]
    assert typed and all(line.split()[0] == "./dev" and line.split()[1] in known for line in typed)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_can_be_shown(path):
    form = read(path)
    assert form["name"] and form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert {part["type"] for part in asked} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert all(part["attributes"]["label"] for part in asked)
    assert len({part["id"] for part in asked}) == len(asked)
