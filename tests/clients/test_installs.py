"""What blocks of AutoGen's and AG2's command line executors install: it is there for the next ones, and for nobody else."""

import json
import sys

import installed
import package
import pytest
import python_package  # noqa: F401

from pyexecd import installs

sys.path.append(str(installed.ROOT / "tests" / "integration"))

import wheels  # noqa: E402

LOCAL = "LocalCommandLineCodeExecutor"
VERSION = "import gadget; print(gadget.VERSION)"

PROGRAM = """
import json
from autogen.coding import CodeBlock
from pyexecd.coding import LocalCommandLineCodeExecutor

def run(executor, *blocks):
    result = executor.execute_code_blocks([CodeBlock(language=language, code=code) for language, code in blocks])
    return result.model_dump()
"""


@pytest.fixture
def index(tmp_path):
    """An index with gadget 1.0, and 2.0 which needs widget, and what a program says to use it."""
    folder = tmp_path / "packages"
    folder.mkdir()
    wheels.wheel(folder, "gadget")
    wheels.wheel(folder, "gadget", "2.0", requires=["widget"])
    wheels.wheel(folder, "widget", programs={"turn": "widget:turn"},
                 modules={"widget.py": "VERSION = '1.0'\ndef turn():\n    print('turned')\n"})
    wheels.sdist(folder, "built", build="raise SystemExit('code of a package')")
    with wheels.Index(folder) as index:
        index.variables = {"PIP_INDEX_URL": index.url, "PIP_TRUSTED_HOST": index.host}
        yield index


@pytest.fixture
def executed(tmp_path, index):
    """Runs steps with an executor of AutoGen 0.7, in TMP_PATH/work."""
    return lambda *steps, **options: package.executed(LOCAL, steps, tmp_path, environment=index.variables,
                                                      work_dir=str(tmp_path / "work"), **options)


def program(tmp_path, index, text):
    """What TEXT prints, as JSON, run behind PROGRAM by a Python with AG2."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + text)
    return json.loads(package.run("ag2", path, home=tmp_path, **index.variables).splitlines()[-1])


def test_what_a_block_installs_is_there_for_the_next_ones(executed):
    one, other, mixed = executed([["sh", "pip install gadget==1.0"], ["python", VERSION]],
                                 [["bash", "set -e\npython -m pip install -U 'gadget>=2' && turn"], ["python", VERSION]],
                                 [["python", "!pip install gadget\nimport widget\nprint(widget.VERSION)"]])
    assert (one["exit_code"], one["output"]) == (0, "Requirement satisfied: gadget==1.0\n1.0\n")
    assert (other["exit_code"], other["output"]) == (0, "Requirement satisfied: gadget>=2\nturned\n2.0\n")
    assert (mixed["exit_code"], mixed["output"]) == (0, "Requirement satisfied: gadget\n1.0\n")


def test_the_same_in_ag2_beside_the_packages_of_the_program_and_of_its_functions(tmp_path, index):
    """The program runs in a virtual environment of its own, with pydantic."""
    seen, other = program(tmp_path, index, """
from autogen.coding.func_with_reqs import with_requirements

@with_requirements(python_packages=["widget"], global_imports=["widget", "pydantic"])
def version():
    return widget.VERSION, pydantic.__name__

executor = LocalCommandLineCodeExecutor(work_dir="coding", functions=[version], timeout=100)
seen = run(executor, ("sh", "pip install gadget==1.0"), ("python", "import gadget, pydantic\\nfrom functions import version\\n"
                                                         "print(gadget.VERSION, *version())"))
other = run(LocalCommandLineCodeExecutor(work_dir="coding"), ("python", "import gadget"))
print(json.dumps([seen, other]))
""")
    assert (seen["exit_code"], seen["output"]) == (0, "Requirement satisfied: gadget==1.0\n1.0 1.0 pydantic\n"), seen
    assert other["exit_code"] == 1 and "No module named 'gadget'" in other["output"]


def test_an_installation_that_fails_ends_the_block_and_changes_nothing(executed):
    kept, missing, after, built = executed([["sh", "pip install gadget==1.0"]], [["sh", "pip install nowhere\necho never"]],
                                           [["python", VERSION]], [["sh", "pip install built"]])
    assert kept["exit_code"] == 0
    assert missing["exit_code"] == 1 and "nowhere" in missing["output"] and "never" not in missing["output"]
    assert (after["exit_code"], after["output"]) == (0, "1.0\n")
    assert built["exit_code"] == 1 and "only wheels are installed" in built["output"]
    assert "code of a package" not in built["output"]


@pytest.mark.parametrize("command, word", [
    ("pip install -r requirements.txt", "-r"), ("pip install -e .", "-e"), ("pip install ./gadget.whl", "./gadget.whl"),
    ("pip install -i http://127.0.0.1:1/ gadget", "-i"), ("pip install gadget#widget", "gadget#widget"),
    ("pip install gadget\rwidget", "gadget\rwidget"), ("pip install --pre gadget", "--pre"),
    ("pip install \"gadget; python_version>'3'\"", "gadget; python_version>'3'"),
])
def test_what_cannot_be_installed_is_refused_with_advice(executed, index, command, word):
    (seen,) = executed([["sh", f"{command}\necho never"]])
    assert seen["exit_code"] == 1 and seen["output"].startswith(f"pip install: `{word}` is not possible here")
    assert "Name packages of the index" in seen["output"] and "never" not in seen["output"] and index.requests == []


@pytest.mark.parametrize("name", ["setup.sh", "scripts/set up.sh"])
def test_the_file_of_a_block_has_what_the_model_wrote(executed, tmp_path, name):
    code = f"# filename: {name}\npip install gadget==1.0\nchmod 755 '{name}'\necho done"
    (seen,) = executed([["sh", code]])
    assert seen["output"] == "Requirement satisfied: gadget==1.0\ndone\n"
    assert (tmp_path / "work" / name).read_text().replace(" -qqq", "") == code
    assert (tmp_path / "work" / name).stat().st_mode & 0o777 == 0o755


def test_a_file_that_the_block_has_written_itself_stays(executed, tmp_path):
    executed([["sh", "# filename: setup.sh\npip install gadget==1.0\nrm setup.sh; echo own >setup.sh"]])
    assert (tmp_path / "work" / "setup.sh").read_text() == "own\n"


def test_what_a_cancelled_block_has_installed_is_there(tmp_path, index):
    (tmp_path / "work").mkdir()
    code = "# filename: long.sh\npip install gadget==1.0\ntouch started\nwhile test -e started; do sleep 0.1; done\nsleep 1000"
    cancelled, after = package.executed(LOCAL, [[["sh", code]], [["python", f"{VERSION}\nprint(open('long.sh').read())"]]],
                                        tmp_path, tmp_path / "work" / "started", environment=index.variables,
                                        work_dir=str(tmp_path / "work"), timeout=90)
    assert cancelled["exit_code"] == 125
    assert after["output"].replace(" -qqq", "") == f"1.0\n{code}\n"


def test_two_blocks_at_once_both_install(tmp_path, index):
    seen = program(tmp_path, index, """
import sys, threading
sys.setswitchinterval(1e-6)
executor = LocalCommandLineCodeExecutor(work_dir="coding", timeout=100)
seen, ready = {}, threading.Barrier(2)
def install(name):
    ready.wait()
    seen[name] = run(executor, ("sh", f"pip install {name}"))
threads = [threading.Thread(target=install, args=[name]) for name in ("gadget==1.0", "widget")]
for each in threads:
    each.start()
for each in threads:
    each.join()
seen["both"] = run(executor, ("python", "import gadget, widget"))
print(json.dumps(seen))
""")
    assert [each["exit_code"] for each in seen.values()] == [0, 0, 0], seen


def test_a_block_that_is_only_saved_installs_nothing(tmp_path, index):
    saved = program(tmp_path, index, """
executor = LocalCommandLineCodeExecutor(work_dir="coding", execution_policies={"sh": False})
print(json.dumps(open(run(executor, ("sh", "pip install gadget"))["code_file"]).read()))
""")
    assert saved.split() == ["pip", "install", "-qqq", "gadget"] and index.requests == []


PLANTED = """
import os, stat
for name in ("pip", "pip3", "uv", "python", "python3", "bin/pip", "bin/uv", "bin/python"):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as file:
        file.write("#!/bin/sh\\ntouch MARK\\n")
    os.chmod(name, 0o755)
for name in ("sitecustomize.py", "usercustomize.py", "pip/__init__.py", "site.py", "gadget.py"):
    name = name.replace("pip/", "pip_/")
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write("open('MARK', 'w')\\nVERSION = 'planted'\\n")
os.makedirs(".config/pip", exist_ok=True)
for name in ("pip.conf", ".pip.conf", ".config/pip/pip.conf", "pyvenv.cfg", "uv.toml", "pyproject.toml", "setup.cfg"):
    open(name, "w").write("[global]\\nindex_url = http://127.0.0.1:1/\\nhome = /nonexistent\\n")
"""


def test_nothing_that_code_has_left_takes_part(executed, tmp_path):
    mark = tmp_path / "mark"
    seen = executed([["python", PLANTED.replace("MARK", str(mark))]], [["sh", "pip install gadget==1.0"]],
                    [["python", "import os, sys; sys.path.remove(os.getcwd()) if os.getcwd() in sys.path else 0\n" + VERSION]])
    assert [each["exit_code"] for each in seen] == [0, 0, 0], seen
    assert seen[1]["output"] == "Requirement satisfied: gadget==1.0\n" and not mark.exists()


@pytest.mark.parametrize("language, code, packages, rest", [
    ("sh", "# filename: a.sh\nset -e\npip install a && pip3 install 'b[x]==1.*' 2>&1 | tail -1\necho hi; pip install c",
     ["a", "b[x]==1.*"], "# filename: a.sh\nset -e\n\necho hi; pip install c"),
    ("sh", "uv pip install --system a  # for this; and that\npython a.py", ["a"], "\npython a.py"),
    ("sh", "pip install \\\n  pandas>=2 \\\n  b || true\n", ["pandas>=2", "b"], "\n\n\n"),
    ("sh", "pip install a > /dev/null 2>&1 || exit 1\necho a", ["a"], "\necho a"),
    ("sh", "pip install --progress-bar off a; python a.py && ls", ["a"], "python a.py && ls"),
    ("python", "!pip install a\n%pip install -q b\nimport a", ["a", "b"], "\n\nimport a"),
    ("sh", "pip install pan\\\ndas", ["pandas"], "\n"),
    ("sh", "pip install a\r\necho a", ["a"], "\necho a"),
    ("sh", "pip install a && \\\n  pip install b && \\\npython z.py\n", ["a", "b"], '\\\npython z.py\n\n'),
    ("sh", "pip -q install a && echo ' # a'", ["a"], "echo ' # a'"),
    ("sh", "pip3.11 install --force-reinstall --only-binary :all: -qU a", ["a"], ""),
    ("sh", "export A=b && set -ex; pip install a\npip install b\nls", ["a", "b"], "export A=b && set -ex\n\nls"),
    ("sh", "export A=b\nset -x;\npip install a && a", ["a"], "export A=b\nset -x;\na"),
])
def test_commands_at_the_beginning_are_read(language, code, packages, rest):
    reading = installs.read(language, code)
    assert (reading.packages, reading.rest, reading.problem) == (packages, rest, "")


@pytest.mark.parametrize("language, code", [
    ("sh", "echo a\npip install a"), ("sh", "pip install --target lib a"), ("sh", "pip install --help"),
    ("sh", "pip install $(cat names)"), ("sh", "pip install a > log"), ("sh", "pip install 'a"), ("sh", "pip install"),
    ("sh", "pip installer a"), ("sh", ". env/bin/activate && pip install a"), ("python", "print(1)\n!pip install a"),
    ("python", "pip install a"), ("sh", ""), ("sh", "pip install a # b \\\nls"), ("sh", "export PIP_INDEX_URL=a\npip install b"),
])
def test_other_blocks_are_left_as_they_are(language, code):
    assert installs.read(language, code) == installs.Reading(rest=code)


def test_there_is_a_limit_to_what_a_block_installs():
    names = [f"a{number}" for number in range(257)]
    assert installs.read("sh", f"pip install {' '.join(names[:256])}").packages == names[:256]
    assert "more than 256 packages are not possible" in installs.read("sh", f"pip install {' '.join(names)}").problem


def test_a_later_version_takes_the_place_of_an_earlier_one():
    def after(*codes):
        packages = []
        for code in codes:
            packages = installs.merged(packages, installs.read("sh", f"pip install {code}"))
        return packages

    assert after("a b==1", "B==2 c") == ["a", "B==2", "c"]
    assert after("a_b==1", "a-b") == ["a_b==1"]
    assert after("a_b==1", "-U a-b") == ["a-b"]
