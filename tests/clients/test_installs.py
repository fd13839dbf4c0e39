"""What blocks and cells of AutoGen's and AG2's executors install: it is there for the next ones, and for nobody else."""

import asyncio
import json
import os
import pathlib
import sys
import types
import venv

import installed
import package
import pytest
import python_package  # noqa: F401

from pyexecd import PyexecdError, definition, installs, overlay, place, writable

sys.path.append(str(installed.ROOT / "tests" / "integration"))

import leftovers  # noqa: E402
import wheels  # noqa: E402

LOCAL = "LocalCommandLineCodeExecutor"
JUPYTER = "JupyterCodeExecutor"
VERSION = "import gadget; print(gadget.VERSION)"
WHERE = "import gadget; print(gadget.__file__)"

# A program of AG2, the successor of AutoGen 0.2.
PROGRAM = """
import json, os, sys, venv
from autogen.coding import CodeBlock
from pyexecd import coding

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
    with wheels.Index(folder) as index:
        index.variables = {"PIP_INDEX_URL": index.url, "PIP_TRUSTED_HOST": index.host}
        yield index


@pytest.fixture
def executed(tmp_path, index):
    """Runs steps with an executor of AutoGen 0.7, in TMP_PATH/work."""
    places = {LOCAL: "work_dir", JUPYTER: "output_dir"}

    def run(name, *steps, **options):
        return package.executed(name, steps, tmp_path, environment=index.variables,
                                **{places[name]: str(tmp_path / "work"), **options})
    return run


def program(tmp_path, index, text, venv="ag2"):
    """What TEXT prints, as JSON, run behind PROGRAM by a Python with AG2."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + text)
    return json.loads(package.run(venv, path, home=tmp_path, **index.variables).splitlines()[-1])


# The command line


def test_what_a_block_installs_is_there_for_the_next_ones(executed):
    one, other, program = executed(LOCAL, [["sh", "pip install gadget==1.0"], ["python", VERSION]],
                                   [["bash", "set -e\npython -m pip install -U 'gadget>=2' && turn"], ["python", VERSION]],
                                   [["sh", "pip3 install -q widget 2>&1 | tail -1\nturn > turned\ncat turned"]])
    assert (one["exit_code"], one["output"]) == (0, "Successfully installed gadget-1.0\n1.0\n")
    assert (other["exit_code"], other["output"]) == (0, "Successfully installed gadget-2.0\nturned\n2.0\n")
    assert (program["exit_code"], program["output"]) == (0, "turned\n")


@pytest.mark.parametrize("name", ["setup.sh", "scripts/setup.sh"])
def test_the_file_of_a_block_has_what_the_model_wrote(executed, tmp_path, name):
    code = f"# filename: {name}\npip install gadget==1.0"
    (seen,) = executed(LOCAL, [["sh", code], ["python", VERSION]])
    assert seen["output"] == "Successfully installed gadget-1.0\n1.0\n"
    assert (tmp_path / "work" / name).read_text().replace(" -qqq", "") == code


def test_a_block_that_is_only_saved_installs_nothing(tmp_path, index):
    saved = program(tmp_path, index, """
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", execution_policies={"sh": False})
result = run(executor, ("sh", "pip install gadget"))
print(json.dumps(open(result["code_file"]).read()))
""")
    assert saved.split() == ["pip", "install", "-qqq", "gadget"] and index.requests == []


def test_packages_of_the_program_are_there_beside_what_is_installed(executed):
    """It runs in a virtual environment of its own, with pydantic."""
    (seen,) = executed(LOCAL, [["sh", "pip install gadget pydantic"], ["python", "import gadget, pydantic; print('both')"]])
    assert seen["exit_code"] == 0 and seen["output"].endswith("both\n"), seen
    assert "Requirement already satisfied: pydantic==" in seen["output"]


def test_packages_of_functions_are_there_beside_those_of_the_program(tmp_path, index):
    seen, failed = program(tmp_path, index, """
from autogen.coding.func_with_reqs import with_requirements

@with_requirements(python_packages=["gadget==1.0"], global_imports=["gadget", "pydantic"])
def version():
    return gadget.VERSION, pydantic.__name__

executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", functions=[version])
seen = run(executor, ("python", "from functions import version; print(*version())"))

@with_requirements(python_packages=["nowhere"])
def lost():
    pass

try:
    run(coding.LocalCommandLineCodeExecutor(work_dir="coding", functions=[lost]), ("python", "print(1)"))
except ValueError as error:
    print(json.dumps([seen, str(error)]))
""")
    assert (seen["exit_code"], seen["output"]) == (0, "1.0 pydantic\n"), seen
    assert failed.startswith("Functions failed to load: ") and "installing nowhere" in failed


def test_an_installation_that_fails_ends_the_block_and_changes_nothing(executed):
    missing, kept, conflict = executed(
        LOCAL, [["sh", "echo kept; set -e\npip install nowhere\necho never"], ["python", "print('never')"]],
        [["sh", "pip install nowhere || echo 'goes on'"], ["sh", "pip install gadget==1.0"], ["python", VERSION]],
        [["sh", "pip install gadget==3.0"]])
    assert missing["exit_code"] == 1 and "kept" in missing["output"]
    assert "\ninstalling nowhere: pip ended with exit status 1:" in missing["output"], missing
    assert "never" not in missing["output"]
    assert kept["exit_code"] == 0 and "goes on" in kept["output"] and kept["output"].endswith("1.0\n")
    assert conflict["exit_code"] == 1 and "gadget==3.0" in conflict["output"]


def test_a_requirement_of_before_gives_way_to_one_that_needs_more(executed, index):
    wheels.wheel(index.folder, "needy", requires=["gadget>=2"])
    again, needy = executed(
        LOCAL, [["sh", "pip install gadget==1.0 && pip install gadget"], ["python", VERSION]],
        [["sh", "pip install needy"], ["python", "import needy"], ["python", VERSION]])
    assert again["output"] == "Successfully installed gadget-1.0\nRequirement already satisfied: gadget==1.0\n1.0\n"
    assert needy["output"] == "Successfully installed needy-1.0\n2.0\n", needy


@pytest.mark.parametrize("name, language, install", [(LOCAL, "sh", "pip install {}"), (JUPYTER, "python", "%pip install {}")])
def test_what_a_package_prints_spoils_no_block(executed, index, name, language, install):
    wheels.wheel(index.folder, "loud", modules={
        "loud.py": "", "loud.pth": "import sys; sys.stdout.write(chr(0) + chr(27) + '[2J' + 'x' * 1000000 + '\\n')\n"})
    (seen,) = executed(name, [[language, install.format("loud")], [language, install.format("gadget==1.0")]])
    assert seen["exit_code"] == 0 and "gadget-1.0" in seen["output"], seen


@pytest.mark.parametrize("arguments, named", [
    ("-r requirements.txt", "-r"), ("-e .", "-e"), ("-i http://elsewhere gadget", "-i"),
    ("--target=lib gadget", "--target=lib"), ("./gadget", "./gadget"), ("git+https://elsewhere/gadget", "git+https")])
def test_what_cannot_be_installed_is_said_in_a_sentence(executed, index, arguments, named):
    (seen,) = executed(LOCAL, [["sh", f"pip install {arguments}"]])
    assert seen["exit_code"] == 1 and f"`{named}" in seen["output"] and "not possible here" in seen["output"]
    assert "pip install \"pandas>=2\"" in seen["output"]
    assert index.requests == []


def test_code_cannot_change_what_is_installed(executed):
    attack = """
import gadget, os, sys
places = [gadget.__file__, os.path.dirname(gadget.__file__) + "/evil.pth", sys.prefix + "/bin/evil", sys.prefix + "/pyvenv.cfg"]
for place in places:
    try:
        open(place, "a").close()
        print("written", place)
    except OSError as error:
        print(type(error).__name__)
"""
    (seen,) = executed(LOCAL, [["sh", "pip install gadget"], ["python", attack]])
    assert seen["exit_code"] == 0 and "written" not in seen["output"], seen


def test_code_cannot_say_what_is_installed_from_where(executed, index, tmp_path):
    """What a script has planted in its directory is nothing to the installer."""
    planted = """
mkdir -p .config/pip .local/bin gadget bin
printf '[global]\\nindex_url = http://127.0.0.1:9/simple\\n' | tee pip.conf .config/pip/pip.conf .pip.conf >/dev/null
for name in pip python python3 uv; do printf '#!/bin/sh\\ntouch %s/ran-$0' "$PWD" > .local/bin/$name; cp .local/bin/$name bin; done
chmod +x .local/bin/* bin/*
echo 'open("ran-site", "w")' | tee sitecustomize.py usercustomize.py pip.py >/dev/null
echo 'import os; os.mkdir("ran-pth")' > evil.pth
"""
    (seen,) = executed(LOCAL, [["sh", planted], ["sh", "pip install gadget==1.0"], ["sh", "ls | grep ran; true"],
                               ["python", WHERE]])
    assert seen["exit_code"] == 0 and "ran-" not in seen["output"], seen
    assert "Successfully installed gadget-1.0" in seen["output"]
    assert str(tmp_path / "work") not in seen["output"].splitlines()[-1]


def test_a_block_that_lacks_a_package_is_told_how_to_install_it(executed):
    (seen,) = executed(LOCAL, [["python", "import bs4"]])
    assert seen["exit_code"] == 1
    assert "To have that, run a block of bash with `pip install beautifulsoup4` first." in seen["output"], seen
    assert "environment_definition" not in seen["output"]


def test_a_tool_that_reads_no_command_names_none(tmp_path, index):
    told = program(tmp_path, index, """
import asyncio
from pyexecd.ag2 import SystemPythonEnvironment
print(json.dumps(asyncio.run(SystemPythonEnvironment().run("import bs4", "scripts", 60)).text))
""")
    assert "# dependencies = [\"beautifulsoup4\"]" in told and "pip install" not in told, told


def test_an_installation_reaches_the_index_only_though_code_has_a_network(executed, index, tmp_path):
    """A package that is built runs what it likes."""
    with wheels.Index(tmp_path) as elsewhere:
        wheels.sdist(index.folder, "slow", build=f"import urllib.request; urllib.request.urlopen('{elsewhere.site}/')")
        reached, refused = executed(
            LOCAL, [["python", f"import urllib.error, urllib.request\ntry:\n    urllib.request.urlopen('{elsewhere.site}/')\n"
                               "except urllib.error.HTTPError: print('reached')"]],
            [["sh", "pip install slow"]], settings={"allow_source_builds": True})
        assert reached["output"] == "reached\n", reached
        assert refused["exit_code"] == 1 and elsewhere.place in refused["output"], refused
        assert len(elsewhere.requests) == 1


@pytest.mark.parametrize("code, language", [("pip install gadget", "sh"), ("!pip install gadget", "python")])
def test_executors_do_not_share_what_they_install_and_it_ends_with_them(tmp_path, index, code, language):
    kind = "LocalCommandLineCodeExecutor(work_dir='out')" if language == "sh" else "EmbeddedIPythonCodeExecutor(output_dir='out')"
    first, second, there, left = program(tmp_path, index, f"""
import gc
os.mkdir("out")
state = os.path.expanduser("~/.local/state/pyexecd-executors")
one, other = coding.{kind}, coding.{kind}
seen = [run(one, ({language!r}, {code!r}), ("python", {WHERE!r})), run(other, ("python", {WHERE!r}))]
there = [os.path.join(state, name, "packages", each) for name in os.listdir(state)
         for each in os.listdir(os.path.join(state, name, "packages"))]
del one, other
gc.collect()
print(json.dumps([*seen, there, os.listdir(state)]))
""")
    assert first["exit_code"] == 0 and second["exit_code"] == 1 and "No module named" in second["output"]
    assert len(there) == 1 and there[0] in first["output"] and left == []


@pytest.mark.parametrize("venv", ["ag2_0_9", "ag2_0_13", "ag2"])
def test_an_agent_of_ag2_installs_and_uses(tmp_path, index, venv):
    answer = program(tmp_path, index, """
from autogen import ConversableAgent
agent = ConversableAgent("runner", llm_config=False, human_input_mode="NEVER", code_execution_config={
    "executor": coding.LocalCommandLineCodeExecutor(work_dir="coding")})
message = "First:\\n```sh\\npip install gadget==1.0\\n```\\nThen:\\n```python\\nimport gadget; print(gadget.VERSION)\\n```\\n"
print(json.dumps(agent.generate_reply([{"role": "user", "content": message}])))
""", venv)
    assert answer.startswith("exitcode: 0 (execution succeeded)") and answer.endswith("gadget-1.0\n1.0\n"), answer


@pytest.mark.parametrize("name", [LOCAL, JUPYTER])
def test_matplotlib_leaves_nothing_in_the_directory(executed, tmp_path, name):
    settings = {"type": "system", "executable": installed.python("data")}
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.savefig('plot.png')"
    (seen,) = executed(name, [["python", code], ["python", "import os; print(os.path.exists('plot.png'))"]],
                       settings=settings)
    assert seen["exit_code"] == 0 and "True" in seen["output"], seen
    places = [tmp_path / "work" / place for place in (".config", ".cache/matplotlib")]
    assert (tmp_path / "work" / "plot.png").exists() and not any(map(os.path.exists, places))


# Attacks: a package that was installed would like to take part in the next installation


SPY = "import os, sys; [open(place + '/told', 'a').close() for place in (sys.prefix, sys.exec_prefix) " \
      "if os.access(place, os.W_OK)]\n"
LOOK = "import os, sys; print(os.path.exists(sys.prefix + '/told'), len(os.listdir(os.path.dirname(sys.prefix))))"


def hostile():
    """The modules of a package that are started by others."""
    names = ("sitecustomize", "usercustomize", "keyring", "setuptools", "simplejson", "socks", "truststore")
    return {"hostile.py": "", "hostile.pth": SPY, **{f"{name}.py": SPY for name in names}}


@pytest.mark.parametrize("name, language, install", [(LOCAL, "sh", "pip install {}"), (JUPYTER, "python", "%pip install {}")])
def test_what_is_installed_runs_in_no_later_installer(executed, index, name, language, install):
    wheels.wheel(index.folder, "hostile", modules=hostile())
    blocks = [[language, install.format(each)] for each in ("hostile", "gadget==1.0", "widget", "'gadget>=2'")]
    seen = executed(name, *[[block] for block in blocks], [["python", VERSION]], [["python", LOOK]] if name == LOCAL else
                    [["python", "print(False, 2)"]])
    assert [each["exit_code"] for each in seen] == [0] * 6, seen
    assert seen[-2]["output"].strip().endswith("2.0") and seen[-1]["output"].split() == ["False", "2"]


def test_what_code_writes_where_an_editable_project_lies_runs_in_no_installer(tmp_path, index):
    """A `.pth` file of the virtual environment of the program leads to it."""
    plant = f"for name in ('sitecustomize', 'keyring', 'pip'): open(name + '.py', 'w').write({SPY!r})"
    seen = program(tmp_path, index, VENV.format(path="beside") + f"""
with open(os.path.join(packages, "project.pth"), "w") as file:
    file.write(os.path.abspath("coding") + "\\n")
seen = [run(executor, ("python", {plant!r})), run(executor, ("sh", "pip install gadget==1.0")), run(executor, ("python", {LOOK!r}))]
print(json.dumps(seen))
""")
    assert [each["exit_code"] for each in seen] == [0, 0, 0], seen
    assert seen[2]["output"].split()[0] == "False"


def test_a_build_reads_no_password(executed, index, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login name password correct-horse\n")
    look = f"import os; assert not os.path.exists({str(tmp_path / '.netrc')!r}), 'it is seen'"
    wheels.sdist(index.folder, "slow", build=look)
    (seen,) = executed(LOCAL, [["sh", "pip install slow"]], settings={"allow_source_builds": True})
    assert (seen["exit_code"], seen["output"]) == (0, "Successfully installed slow-1.0\n"), seen


@pytest.mark.parametrize("code", [
    "pip install " + "2>&1" * 900 + "(", "pip install " + "1>&2 " * 19000 + "`", "pip install " + '"' * 90000, ";" * 99000,
    " \t" * 49000, "pip install " + " " * 90000 + "(", "pip install a" + "[a," * 1000, "pip install " + "a-" * 95 + "!",
    "pip install a" + " >" * 1900, "!pip install a\n" + "(" * 90000, "!pip install a\nx = " + "-" * 90000 + "1", "!pip install a\nx='\0'",
    "'\\'" * 30000 + "\n!pip install a", "'\n" * 40000 + "!pip install a", "'''\n" * 20000 + "!pip install a",
    "x" * 200000 + "\npip install a"])
def test_code_that_is_hard_to_read_is_read_at_once(code):
    """A pattern that goes back takes longer than the patience of any test."""
    for form in (installs.in_shell, installs.in_cell):
        carried_out(form, code)


def test_the_overlay_lies_outside_of_what_code_can_write(tmp_path, monkeypatch):
    places = writable.Writable({"write": [str(tmp_path / "shared")]}, tmp_path / "work")
    for name in ("work", "shared"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / name / "state"))
        assert not overlay.state_outside(places).startswith(str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert overlay.state_outside(places) == str(tmp_path / "state" / "pyexecd-executors")


# What a script has written: settings of installers, links, files of virtual environments


SETTINGS = """
import os
os.makedirs(".config/pip"); os.makedirs(".config/uv"); os.makedirs(".pip"); os.makedirs("xdg/pip"); os.makedirs("bin")
for path in (".config/pip/pip.conf", ".pip/pip.conf", "xdg/pip/pip.conf", "pip.conf", ".pip.conf"):
    open(path, "w").write("[global]\\nindex_url = http://127.0.0.1:9/simple\\nrequirement = %s\\npython = %s/evil\\n"
                          % ({secret!r}, os.getcwd()))
for path in (".config/uv/uv.toml", "uv.toml"):
    open(path, "w").write("[[index]]\\nurl = 'http://127.0.0.1:9'\\ndefault = true\\n")
open("pyproject.toml", "w").write("[[tool.uv.index]]\\nurl = 'http://127.0.0.1:9'\\ndefault = true\\n")
for path in ("evil", "bin/uv", "bin/keyring"):
    open(path, "w").write("#!/bin/sh\\ntouch " + {escaped!r} + "\\nexit 1\\n")
    os.chmod(path, 0o755)
"""


def settings_in(work):
    """The variables of a program that lead its installers to files in WORK."""
    return [{"HOME": str(work)}, {"XDG_CONFIG_HOME": str(work / ".config")}, {"XDG_CONFIG_DIRS": str(work / "xdg")},
            {"PIP_CONFIG_FILE": str(work / "pip.conf")}, {"UV_CONFIG_FILE": str(work / "uv.toml")},
            {"PIP_REQUIREMENT": str(work / "evil"), "PIP_CONSTRAINT": str(work / "evil")},
            {"PIP_FIND_LINKS": f"file://{work}", "PIP_CERT": str(work / "evil"), "SSL_CERT_FILE": str(work / "evil")},
            {"PATH": f"{work}/bin:{package.variables()['PATH']}"}]


@pytest.mark.parametrize("which", range(8))
def test_settings_that_code_has_written_have_no_effect(executed, index, tmp_path, which):
    (tmp_path / "secret").write_text("correct-horse")
    work = tmp_path / "work"
    index.variables.update(settings_in(work)[which])
    plant = SETTINGS.format(secret=str(tmp_path / "secret"), escaped=str(tmp_path / "escaped"))
    planted, seen = executed(LOCAL, [["python", plant]], [["sh", "pip install gadget==1.0"], ["python", VERSION]])
    assert planted["exit_code"] == 0, planted
    assert (seen["exit_code"], seen["output"]) == (0, "Successfully installed gadget-1.0\n1.0\n"), seen
    assert not (tmp_path / "escaped").exists()


def test_settings_that_are_a_link_to_what_code_has_written_have_no_effect(executed, tmp_path):
    folder = tmp_path / ".config" / "pip"
    folder.mkdir(parents=True)
    (folder / "pip.conf").symlink_to(tmp_path / "work" / "pip.conf")
    plant = "open('pip.conf', 'w').write('[global]\\nindex_url = http://127.0.0.1:9/simple\\n')"
    _, seen = executed(LOCAL, [["python", plant]], [["sh", "pip install gadget==1.0"]])
    assert (seen["exit_code"], seen["output"]) == (0, "Successfully installed gadget-1.0\n"), seen


def test_variables_name_the_index_and_lead_nowhere_else(tmp_path, monkeypatch):
    places = writable.Writable({}, tmp_path / "work")
    (tmp_path / "link").symlink_to("work/bin")
    monkeypatch.setenv("PATH", os.pathsep.join([".", f"{tmp_path}/link", str(tmp_path / "work" / "bin"), "bin", "/usr/bin", "/opt/a b"]))
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", f"https://packages.example {tmp_path}/link/wheels")
    monkeypatch.setenv("pip_index_url", "http://elsewhere.example")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/lib:{tmp_path / 'work'}:")
    monkeypatch.setenv("OPENSSL_CONF", str(tmp_path / "work" / "openssl.cnf"))
    kept = places.variables()
    assert kept["LD_LIBRARY_PATH"] == "/usr/lib" and "OPENSSL_CONF" not in kept
    assert kept["PATH"] == "/usr/bin:/opt/a b" and kept["PIP_INDEX_URL"] == "https://packages.example/simple"
    assert "PIP_FIND_LINKS" not in kept and "pip_index_url" not in kept


@pytest.mark.parametrize("files", [
    {"pyexecd_beneath.pth": "import os\n"}, {"strange-1.0.data/data/lib/python3.99/site-packages/strange.txt": ""},
    {"strange-1.0.data/data/lib/python3.99 --evil/site-packages/strange.txt": ""}])
def test_a_package_with_strange_files_is_installed(executed, index, files):
    wheels.wheel(index.folder, "strange", modules={"strange.py": "", **files})
    seen, later = executed(LOCAL, [["sh", "pip install strange"], ["python", "import pydantic, strange; print('both')"]],
                           [["sh", "pip install gadget==1.0"], ["python", VERSION]])
    assert seen["exit_code"] == 0 and seen["output"].endswith("both\n"), seen
    assert later["exit_code"] == 0 and later["output"].endswith("1.0\n"), later


@pytest.mark.parametrize("more", [
    "os.rename(packages, 'away'); os.symlink('/tmp', packages)",
    "os.rename(packages, 'away'); os.symlink(b'/tmp/\\xff', packages)",
    "os.makedirs('.venv/lib/python3.9 --evil/site-packages')", "os.makedirs('.venv/lib/python3.9/site-packages')",
    "os.rename('.venv/lib', 'away'); os.makedirs('.venv/lib/python3.99/site-packages')",
    "os.remove('.venv/pyvenv.cfg'); os.mkfifo('.venv/pyvenv.cfg')",
    "os.remove('.venv/pyvenv.cfg'); os.symlink('/dev/zero', '.venv/pyvenv.cfg')"])
def test_what_code_makes_of_a_virtual_environment_stops_no_later_executor(tmp_path, index, more):
    code = "import glob, os; (packages,) = glob.glob('.venv/lib/python3*/site-packages'); " + more
    planted, later = program(tmp_path, index, VENV.format(path="coding/.venv") + f"""
planted = run(executor, ("python", {code!r}))
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", virtual_env_context=context)
print(json.dumps([planted, run(executor, ("sh", "pip install gadget==1.0"), ("python", {VERSION!r}))]))
""")
    assert planted["exit_code"] == 0, planted
    assert later["exit_code"] == 0 and later["output"].endswith("1.0\n"), later


@pytest.mark.parametrize("name", ["a\nimport os", "a\x0cimport os", "a\x85import os", "a\udcffimport os"])
def test_a_directory_of_two_lines_is_in_no_pth_file(tmp_path, name):
    """Python 3.13 has ends of lines there as str.splitlines() has them."""
    work = tmp_path / name
    folder = work / ".venv" / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    folder.mkdir(parents=True)
    keys = {"type": "venv", "venv_path": str(work / ".venv")}
    assert definition.held(keys, writable.Writable({}, work))[1] == []


def test_the_overlays_of_a_killed_program_are_removed_by_the_next_one(tmp_path, index):
    text = """
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding")
run(executor, ("sh", "pip install gadget==1.0"))
state = os.path.expanduser("~/.local/state/pyexecd-executors")
print(json.dumps(os.listdir(state)), flush=True)
"""
    path = tmp_path / "killed.py"
    path.write_text(PROGRAM + text + "os.kill(os.getpid(), 9)\n")
    done = installed.subprocess.run([installed.python("ag2"), path], cwd=tmp_path, capture_output=True, text=True, timeout=180,
                                    env=package.variables(HOME=str(tmp_path), **index.variables))
    (left,) = json.loads(done.stdout)
    held, *others = program(tmp_path, index, text + "print(json.dumps(os.listdir(state)))")
    assert not others and held != left


PYTHON_INSIDE = """
import shutil
os.mkdir("coding")
{make}
import warnings
warnings.simplefilter("error")
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", settings={{"type": "system", "executable": {python!r}}})
print(json.dumps([run(executor, ("python", {outside!r})),
                  run(executor, ("sh", "pip install gadget==1.0"), ("python", {outside!r}))]))
"""


@pytest.mark.parametrize("make, python", [
    ('shutil.copy("/usr/bin/python3", "coding/python3")', "coding/python3"),
    ('os.symlink("/usr/bin/python3", "coding/python3")\nos.symlink("coding/python3", "led")', "led"),
    ('shutil.copy("/usr/bin/python3", "coding/python3")\nos.makedirs("beside/bin")\n'
     'os.symlink("../../coding/python3", "beside/bin/python")\nopen("beside/pyvenv.cfg", "w").write("home = /usr/bin")',
     "beside/bin/python"),
    ('os.makedirs("beside/bin")\nshutil.copy("/usr/bin/python3", "beside/bin/python")\n'
     'open("beside/pyvenv.cfg", "w").write(f"home = {os.getcwd()}/coding")', "beside/bin/python")])
def test_code_with_a_python_that_it_could_change_runs_in_a_sandbox_with_another(tmp_path, index, make, python):
    """A warning would say that there is no sandbox."""
    (tmp_path / "secret").write_text("secret")
    seen, later = program(tmp_path, index, PYTHON_INSIDE.format(
        make=make, python=python, outside=OUTSIDE.format(secret=str(tmp_path / "secret"))))
    assert (seen["exit_code"], seen["output"]) == (0, "False True\n"), seen
    assert later["exit_code"] == 0 and later["output"].endswith("False True\n"), later


def test_an_installation_shows_no_directory_that_code_did_not_see(tmp_path, index):
    """A `.pth` file of the virtual environment of the program leads to a project, which may hold passwords."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "secret").write_text("correct-horse")
    look = f"import os; print(os.path.exists({str(tmp_path / 'project' / 'secret')!r}))"
    seen = program(tmp_path, index, VENV.format(path="beside") + f"""
with open(os.path.join(packages, "project.pth"), "w") as file:
    file.write(os.path.abspath("project") + "\\n")
print(json.dumps([run(executor, ("python", {look!r})), run(executor, ("sh", "pip install -q gadget==1.0"), ("python", {look!r}))]))
""")
    assert [(each["exit_code"], each["output"].strip()) for each in seen] == [(0, "False")] * 2, seen


def test_a_project_that_code_makes_a_link_shows_nothing(tmp_path, index):
    """A `.pth` file of the virtual environment of the program leads to it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("secret")
    link = f"import os; os.rmdir('project'); os.symlink({str(tmp_path / 'elsewhere')!r}, 'project')"
    look = f"import os; print(os.path.exists({str(tmp_path / 'elsewhere' / 'secret')!r}))"
    seen = program(tmp_path, index, VENV.format(path="beside") + f"""
os.makedirs("coding/project")
with open(os.path.join(packages, "project.pth"), "w") as file:
    file.write(os.path.abspath("coding/project") + "\\n")
print(json.dumps([run(executor, ("python", {link!r})), run(executor, ("sh", "pip install gadget==1.0")), run(executor, ("python", {look!r}))]))
""")
    assert [each["exit_code"] for each in seen] == [0, 0, 0] and seen[2]["output"] == "False\n", seen


def test_the_commands_of_a_block_share_their_time(executed, index):
    index.gate.clear()
    (seen,) = executed(LOCAL, [["sh", "pip install gadget || pip install widget"]], settings={"prepare_timeout": 4})
    assert seen["exit_code"] == 1 and "installing widget: not done after 1 seconds" in seen["output"], seen


def test_close_ends_an_installation_and_says_so(tmp_path, monkeypatch, index):
    """The index does not answer before that."""
    monkeypatch.setenv("PATH", f"{pathlib.Path(installed.PYEXECD).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name, value in index.variables.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "work").mkdir()
    keys, packages = overlay.held(definition.local(sys.executable), tmp_path / "work")
    used = place.Place(keys, tmp_path / "work", 60, overlay=packages)
    index.gate.clear()
    running = used.run_block("sh", "pip install gadget")
    assert leftovers.until(lambda: index.requests)
    used.close()
    index.gate.set()
    assert running.result().text == overlay.CLOSED
    assert list((tmp_path / "state" / "pyexecd-executors").iterdir()) == []
    with pytest.raises(PyexecdError):
        used.run_block("python", "1").result()


def test_only_the_last_two_states_are_kept(tmp_path, index):
    kept = program(tmp_path, index, """
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding")
for name in ("gadget==1.0", "widget", "gadget==2.0", "nowhere", "gadget==1.0"):
    run(executor, ("sh", "pip install " + name))
state = os.path.expanduser("~/.local/state/pyexecd-executors")
(name,) = os.listdir(state)
print(json.dumps(sorted(os.listdir(os.path.join(state, name, "packages")))))
""")
    assert kept == ["3", "5"]


def test_later_requirements_replace_earlier_ones():
    assert overlay.joined(["a==1", "b[c]"], ["A>=2", "b", "d"]) == ["A>=2", "b[c]", "d"]


# Virtual environments


VENV = """
builder = venv.EnvBuilder(with_pip=False, symlinks=True)
builder.create({path!r})
context = builder.ensure_directories({path!r})
packages = next(os.path.join(folder, "site-packages") for folder, _, _ in os.walk(os.path.join({path!r}, "lib"))
                if os.path.basename(folder).startswith("python"))
with open(os.path.join(packages, "beneath.py"), "w") as file:
    file.write("VERSION = 'of the venv'")
import warnings
warnings.simplefilter("error")
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", virtual_env_context=context)
"""
OUTSIDE = """
import os
print(os.path.exists({secret!r}), len([pid for pid in os.listdir('/proc') if pid.isdigit()]) < 9)
"""


@pytest.mark.parametrize("path", ["coding/.venv", "coding", "beside"])
def test_code_of_a_virtual_environment_runs_in_a_sandbox_and_sees_its_packages(tmp_path, index, path):
    """AutoGen's tutorial has it in work_dir, where code could change it. A warning would say that there is no sandbox."""
    (tmp_path / "secret").write_text("secret")
    outside = OUTSIDE.format(secret=str(tmp_path / "secret"))
    seen, later = program(tmp_path, index, VENV.format(path=path) + f"""
print(json.dumps([run(executor, ("python", "import beneath, sys; print(beneath.VERSION, sys.prefix != sys.base_prefix)"),
                      ("python", {outside!r})),
                  run(executor, ("sh", "pip install gadget==1.0"), ("python", "import beneath; {VERSION}"),
                      ("python", {outside!r}))]))
""")
    assert (seen["exit_code"], seen["output"]) == (0, "of the venv True\nFalse True\n"), seen
    assert later["exit_code"] == 0 and later["output"].endswith("gadget-1.0\n1.0\nFalse True\n"), later


def test_a_python_that_has_waited_finds_the_packages_of_such_an_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{pathlib.Path(installed.PYEXECD).parent}:{os.environ['PATH']}")
    venv.EnvBuilder(symlinks=True).create(tmp_path / ".venv")
    (packages,) = (tmp_path / ".venv" / "lib").glob("python3*/site-packages")
    (packages / "beneath.py").write_text("VERSION = 'of the venv'")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / ".venv").rename(work / ".venv")
    context = types.SimpleNamespace(env_exe=str(work / ".venv" / "bin" / "python"))
    keys, packages = overlay.held(definition.of_program(context, [], {}), work)
    used = place.Place(keys, work, 20, overlay=packages)

    def is_warm():
        (block,) = used.run_block("python", "import beneath; print(beneath.VERSION)").result().blocks
        assert block.result.stdout == "of the venv\n", block
        return block.result.timings["warm"]
    assert leftovers.until(is_warm)
    used.close()


def test_without_a_sandbox_the_virtual_environment_itself_is_used(tmp_path, index):
    seen = program(tmp_path, index, VENV.format(path="coding/.venv") + """
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", virtual_env_context=context,
                                               settings={"isolation": "none"})
print(json.dumps(run(executor, ("python", "import beneath, sys; print(beneath.VERSION, sys.prefix)"))))
""")
    assert (seen["exit_code"], seen["output"]) == (0, f"of the venv {tmp_path / 'coding' / '.venv'}\n"), seen


@pytest.mark.parametrize("more", [
    'open(".venv/pyvenv.cfg", "w").write("home = " + os.getcwd())', 'os.remove(".venv/pyvenv.cfg")',
    'os.rename(".venv", "away"); os.symlink("away", ".venv")', 'os.rename(".venv/lib", ".venv/gone")'])
def test_what_code_plants_in_a_virtual_environment_runs_in_the_sandbox_only(tmp_path, index, more):
    (tmp_path / "secret").write_text("secret")
    plant = """
import glob, os
spy = "import os; open('/proc/self/cwd/spied', 'a').write(str(os.path.exists(%r)))" % {secret!r}
(packages,) = glob.glob(".venv/lib/python3*/site-packages")
for name in ("sitecustomize.py", "usercustomize.py"):
    open(os.path.join(packages, name), "w").write(spy)
open(os.path.join(packages, "evil.pth"), "w").write("import os; os.close(2)\\n" + spy + "\\n")
os.replace(".venv/bin/python", ".venv/bin/away")
open(".venv/bin/python", "w").write("#!/bin/sh\\ntouch %s/escaped" % os.path.dirname({secret!r}))
os.chmod(".venv/bin/python", 0o755)
{more}
""".format(secret=str(tmp_path / "secret"), more=more)
    planted, used, again = program(tmp_path, index, VENV.format(path="coding/.venv") + f"""
seen = [run(executor, ("python", {plant!r})), run(executor, ("python", "print(6 * 7)"), ("sh", "pip install gadget"))]
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding", virtual_env_context=context)
print(json.dumps([*seen, run(executor, ("python", {OUTSIDE.format(secret=str(tmp_path / 'secret'))!r}))]))
""")
    assert planted["exit_code"] == 0, planted
    assert used["exit_code"] == 0 and used["output"].startswith("42\n"), used
    assert (again["exit_code"], again["output"]) == (0, "False True\n")
    assert not (tmp_path / "escaped").exists()
    spied = tmp_path / "coding" / "spied"
    assert not spied.exists() or "True" not in spied.read_text()


BLOCK = """
result = run(coding.{}(), ("python", {{code!r}}))
print(json.dumps([result["exit_code"], result["output"]]))
"""
TOOL = """
import asyncio
from pyexecd.ag2 import SystemPythonEnvironment
result = asyncio.run(SystemPythonEnvironment().execute_code({code!r}, "script.py", 60))
print(json.dumps([result["returncode"], result["stdout"]]))
"""


@pytest.mark.parametrize("text", [BLOCK.format("LocalCommandLineCodeExecutor"),
                                  BLOCK.format("EmbeddedIPythonCodeExecutor"), TOOL])
def test_a_program_whose_own_python_lies_in_its_work_dir_has_a_sandbox(tmp_path, index, text):
    """`work_dir` is the current directory by default, and `.venv` often lies there."""
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "project"
    folder.mkdir()
    base = installed.python("ag2")
    made = installed.run(base, "-m", "venv", "--without-pip", folder / ".venv", home=folder)
    assert made.returncode == 0, made
    (packages,) = (folder / ".venv" / "lib").glob("python3*/site-packages")
    (their,) = (installed.DEPS / "ag2" / "lib").glob("python3*/site-packages")
    (packages / "their.pth").write_text(f"{their}\n")
    (folder / "program.py").write_text(PROGRAM + """
import warnings
warnings.simplefilter("error")
""" + text.format(code=OUTSIDE.format(secret=str(tmp_path / "secret"))))
    done = installed.subprocess.run([folder / ".venv" / "bin" / "python", "program.py"], cwd=folder, capture_output=True,
                                    text=True, timeout=180, env=package.variables(HOME=str(tmp_path)))
    assert done.returncode == 0, done
    assert json.loads(done.stdout.splitlines()[-1]) == [0, "False True\n"], done


# Sessions


def test_a_cell_installs_and_the_session_goes_on(executed):
    seen, later = executed(
        JUPYTER, [["python", "x = 6"], ["python", "%pip install gadget==1.0\nimport gadget\nprint(gadget.VERSION, x * 7)"]],
        [["python", "!{sys.executable} -m pip install -q widget  # too\nimport widget; print(widget.VERSION, x)"]])
    assert seen["exit_code"] == 0 and "Successfully installed gadget-1.0" in seen["output"], seen
    assert "1.0 42" in seen["output"] and later["exit_code"] == 0 and "1.0 6" in later["output"], later


def test_a_session_that_ends_after_installations_begins_anew_with_them(executed):
    steps = ["%pip install gadget==1.0", "%pip install widget", "import os; os._exit(0)",
             "import gadget, widget; print(gadget.VERSION, widget.VERSION)"]
    *_, seen = executed(JUPYTER, *([["python", code]] for code in steps))
    assert seen["exit_code"] == 0 and seen["output"].strip() == "1.0 1.0", seen


def test_a_cell_says_why_nothing_was_installed(executed):
    seen, impossible, text = executed(JUPYTER, [["python", "!pip install nowhere\nimport nowhere"]],
                                      [["python", "%pip install -e ."]],
                                      [["python", "print('''\n!pip install gadget\n''')"]])
    assert seen["exit_code"] == 1 and "No module named 'nowhere'" in seen["output"]
    assert "installing nowhere" in seen["output"] and "`-e` is not possible here" in impossible["output"]
    assert text["exit_code"] == 0 and text["output"].startswith("\n!pip install")


# What is read


def carried_out(form, code):
    """CODE as FORM leaves it, and what was installed."""
    asked = []

    async def install(requirements):
        asked.append(requirements)
        return True, "done"
    return asyncio.run(form(code, install)), asked


@pytest.mark.parametrize("code, asked", [
    ("pip install a", [["a"]]), ("pip3 install 'a>=2' \"b[c,d]\"", [["a>=2", "b[c,d]"]]), ("pip install a>=2", [["a>=2"]]),
    ("python3 -m pip install --user -U \\\n  a \\\n  b==2", [["a>=0", "b==2"]]), ("  pip install a # b", [["a"]]),
    ("pip install a && pip install b; pip install c", [["a"], ["b"], ["c"]]), ("cd x && pip install a", [["a"]]),
    ("pip install --retries 3 --timeout=9 a", [["a"]]), ("pip install a~=1.0,!=1.1", [["a~=1.0,!=1.1"]]),
    ("pip install a > log 2>&1", [["a"]]), ("pip install 'a > 2' b >log", [["a > 2", "b"]]), ("pip install a 2> log b", [["a", "b"]]), ("uv pip install --system a", [["a"]]), ("echo uv pip install a", []),
    ("echo \"it's\"; pip install a", [["a"]]), ("# don't\npip install a", [["a"]]), ("echo x\\' && pip install a", [["a"]]),
    ("echo 'x\npip install a\n'", []), ('echo "x\n\\"\npip install a\n"', []),
    ("echo pip install a", []), ("pip installer a", []), ("pip install $A", []),
    ("pip install `cat a`", []), ("echo 'x && pip install a'", []), ("cat > x <<END\npip install a\nEND\n", []),
    ("python3 -m venv e && . e/bin/activate && pip install a", []), ("source e/bin/activate\npip install a", []),
    ("# pip install a", []), ("pip download a", []), ("pip install --help", [])])
def test_commands_of_a_shell(code, asked):
    left, seen = carried_out(installs.in_shell, code)
    assert seen == asked and (asked or left == code)


@pytest.mark.parametrize("code, left, asked", [
    ("!pip install a\nimport a", "print('done')\nimport a", [["a"]]),
    ("try:\n    import a\nexcept ImportError:\n    %pip install -q a b", "try:\n    import a\nexcept ImportError:\n    pass",
     [["a", "b"]]),
    ("! pip3 install a | tail -1", "print('done')", [["a"]]),
    ("!pip install a\nx = '''it's\n!pip install b\n'''\n!echo it's\n%pip install c",
     "print('done')\nx = '''it's\n!pip install b\n'''\n!echo it's\nprint('done')", [["a"], ["c"]]),
    ("!pip list", "!pip list", []), ("x = '''\n!pip install a\n'''", "x = '''\n!pip install a\n'''", [])])
def test_lines_of_a_cell(code, left, asked):
    assert carried_out(installs.in_cell, code) == (left, asked)


# Several executors, and code that goes on while something is installed


def test_what_a_session_has_imported_stays_whatever_comes(executed, index):
    wheels.wheel(index.folder, "lazy", modules={"lazy/__init__.py": "", "lazy/late.py": "VERSION = '1.0'\n"})
    *_, seen = executed(JUPYTER, *([["python", code]] for code in (
        "%pip install lazy\nimport lazy", "%pip install gadget==1.0", "%pip install widget", "import lazy.late; print(lazy.late.VERSION)")))
    assert (seen["exit_code"], seen["output"].strip()) == (0, "1.0"), seen


def test_what_a_long_block_uses_stays_during_two_installations(tmp_path, index):
    wheels.wheel(index.folder, "lazy", modules={"lazy/__init__.py": "", "lazy/late.py": "VERSION = '1.0'\n"})
    code = "import lazy, os, time\nopen('begun', 'w')\nwhile not os.path.exists('go'): time.sleep(0.1)\nimport lazy.late; print('late')"
    seen = program(tmp_path, index, f"""
import threading, time
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding")
run(executor, ("sh", "pip install lazy"))
seen = []
thread = threading.Thread(target=lambda: seen.append(run(executor, ("python", {code!r}))))
thread.start()
while not os.path.exists("coding/begun"):
    time.sleep(0.1)
run(executor, ("sh", "pip install gadget==1.0")), run(executor, ("sh", "pip install widget"))
open("coding/go", "w").close()
thread.join()
print(json.dumps(seen[0]))
""")
    assert seen["exit_code"] == 0 and seen["output"].startswith("late\n"), seen


def test_a_virtual_environment_that_another_executor_can_change_shows_nothing_more(tmp_path, index):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("secret")
    plant = f"import glob; open(glob.glob('.venv/lib/python3*/site-packages')[0] + '/x.pth', 'w').write({str(tmp_path / 'elsewhere')!r})"
    look = f"import os; print(os.path.exists({str(tmp_path / 'elsewhere' / 'secret')!r}))"
    planted, seen = program(tmp_path, index, f"""
builder = venv.EnvBuilder(with_pip=False, symlinks=True)
builder.create("coding/.venv")
one = coding.LocalCommandLineCodeExecutor(work_dir="coding")
other = coding.LocalCommandLineCodeExecutor(work_dir="other", virtual_env_context=builder.ensure_directories("coding/.venv"))
run(other, ("python", "1"))
print(json.dumps([run(one, ("python", {plant!r})), run(other, ("sh", "pip install -q gadget==1.0"), ("python", {look!r}))]))
""")
    assert planted["exit_code"] == 0 and (seen["exit_code"], seen["output"].strip()) == (0, "False"), seen


def test_the_configuration_of_no_server_lies_where_code_can_write(tmp_path, index):
    """TMPDIR can lie there. A session goes on while a server starts that installs something."""
    watch = """
import os, threading
def watch():
    while True:
        for name in os.listdir("."):
            if name.endswith(".yaml"):
                open("seen", "w").close()
threading.Thread(target=watch, daemon=True).start()
"""
    seen = program(tmp_path, index, f"""
os.mkdir("out")
os.environ["TMPDIR"] = os.path.abspath("out")
executor = coding.EmbeddedIPythonCodeExecutor(output_dir="out")
seen = run(executor, ("python", {watch!r}), ("python", "%pip install gadget==1.0"), ("python", {VERSION!r}))
print(json.dumps([seen, os.path.exists("out/seen")]))
""")
    assert seen[0]["exit_code"] == 0 and not seen[1], seen


def test_a_current_directory_that_code_has_removed_stops_no_installation(tmp_path, index):
    seen = program(tmp_path, index, f"""
os.makedirs("coding/sub")
executor = coding.LocalCommandLineCodeExecutor(work_dir=os.path.abspath("coding"))
os.chdir("coding/sub")
print(json.dumps(run(executor, ("python", "import os; os.rmdir('sub')"), ("sh", "pip install gadget==1.0"), ("python", {VERSION!r}))))
""")
    assert seen["exit_code"] == 0 and seen["output"].endswith("1.0\n"), seen


# What code puts into the way of this program


FORGER = """#!/usr/bin/python3
import os, sys
answer = ["python", {python!r}, "3.11.2", {venv!r}, {shown!r}, "/usr", ""]
if any("S" in each for each in sys.argv[1:2]):
    os.write(1, chr(0).join(answer).encode())
elif os.path.exists({shown!r} + "/secret"):
    os.write(2, b"it is seen")
    sys.exit(3)
"""


def test_a_python_that_code_has_planted_says_nothing_of_what_is_shown(tmp_path, index):
    """The environments of AG2 are prepared as soon as they are made. A Python tells the server what it needs."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("correct-horse")
    folder = tmp_path / "coding" / ".venv"
    forger = FORGER.format(python=str(folder / "bin" / "python"), venv=str(folder), shown=str(tmp_path / "elsewhere"))
    plant = f"import os; os.remove('.venv/bin/python'); open('.venv/bin/python', 'w').write({forger!r}); os.chmod('.venv/bin/python', 0o755)"
    planted, told = program(tmp_path, index, f"""
import asyncio
from pyexecd.ag2 import VenvPythonEnvironment
venv.EnvBuilder(with_pip=False, symlinks=True).create("coding/.venv")
planted = run(coding.LocalCommandLineCodeExecutor(work_dir="coding"), ("python", {plant!r}))
try:
    told = asyncio.run(VenvPythonEnvironment(venv_path="coding/.venv").run("print(6 * 7)", "scripts", 60)).text
except RuntimeError as error:
    told = str(error)
print(json.dumps([planted, told]))
""")
    assert planted["exit_code"] == 0 and "42" in told and "it is seen" not in told, (planted, told)


def test_a_package_sees_nothing_of_the_folder_of_the_program(tmp_path, index):
    """A server shows scripts without a network where it was started."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "secret").write_text("correct-horse")
    wheels.wheel(index.folder, "nosy", modules={
        "nosy.py": "", "nosy.pth": f"import os; print(os.path.exists({str(project / 'secret')!r}))\n"})
    seen = program(tmp_path, index, f"""
os.chdir({str(project)!r})
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding")
print(json.dumps(run(executor, ("sh", "pip install nosy"))))
""")
    assert seen["exit_code"] == 0 and "Successfully installed" in seen["output"] and "True" not in seen["output"], seen


INNER = """
outer = coding.LocalCommandLineCodeExecutor(work_dir="coding")
inner = coding.LocalCommandLineCodeExecutor(work_dir="coding/sub")
run(inner, ("python", "1"))
run(outer, ("python", "import os; os.rename('sub', 'away'); os.symlink({victim!r}, 'sub')"))
"""


@pytest.fixture
def victim(tmp_path):
    """A directory of the user."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in ("setup.sh", "script.py"):
        (folder / name).write_text("mine")
    yield folder
    assert {each.name: each.read_text() for each in folder.iterdir()} == {"setup.sh": "mine", "script.py": "mine"}


def test_a_link_in_place_of_a_directory_leads_no_block_and_no_file_elsewhere(tmp_path, index, victim):
    """The work_dir of one executor lies in that of another one."""
    seen, later = program(tmp_path, index, INNER.format(victim=str(victim)) + """
print(json.dumps([run(inner, ("sh", "# filename: setup.sh\\npip install gadget==1.0")), run(inner, ("python", "import os; print(os.listdir())"))]))
""")
    assert seen["exit_code"] == 1 and later["exit_code"] == 1 and "coding/sub: " in later["output"], (seen, later)


def test_nothing_is_installed_where_a_server_could_be_led_elsewhere(tmp_path, index):
    """It would begin with what code has made of its directories."""
    inner, outer = program(tmp_path, index, """
os.makedirs("coding/sub")
inner = coding.LocalCommandLineCodeExecutor(work_dir="coding/sub")
outer = coding.LocalCommandLineCodeExecutor(work_dir="coding", settings={"read": [os.path.abspath("coding/sub")]})
run(inner, ("python", "1")), run(outer, ("python", "1"))
print(json.dumps([run(each, ("sh", "pip install gadget==1.0")) for each in (inner, outer)]))
""")
    assert inner["exit_code"] == 1 and "coding/sub" in inner["output"], inner
    assert outer["exit_code"] == 1 and "coding/sub" in outer["output"] and index.requests == [], outer


def test_an_executor_begins_behind_no_link_that_code_has_made(tmp_path, index, victim):
    told = program(tmp_path, index, INNER.format(victim=str(victim)) + """
try:
    run(coding.LocalCommandLineCodeExecutor(work_dir="coding/sub"), ("python", "import os; os.remove('setup.sh')"))
except Exception as error:
    print(json.dumps(str(error)))
""")
    assert told.endswith("coding/sub is a link, which code of this program can have made")


def test_a_package_of_deep_directories_is_removed(tmp_path, index):
    """They are deeper than Python's functions go, which raise RecursionError."""
    wheels.wheel(index.folder, "deep", modules={"deep.py": "", **{"a/" * depth + "a.py": "" for depth in (400, 800, 1200)}})
    *seen, left = program(tmp_path, index, """
executor = coding.LocalCommandLineCodeExecutor(work_dir="coding")
seen = [run(executor, ("sh", "pip install " + name))["output"] for name in ("deep", "gadget==1.0", "widget", "gadget==2.0")]
executor._place.close()
print(json.dumps([*seen, os.listdir(os.path.expanduser("~/.local/state/pyexecd-executors"))]))
""")
    assert seen == [f"Successfully installed {each}\n" for each in ("deep-1.0", "gadget-1.0", "widget-1.0", "gadget-2.0")]
    assert left == []


def test_executors_share_a_directory_by_a_link_of_the_user(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to("work")
    assert [writable.Writable({}, tmp_path / "link").leads(str(tmp_path / "work" / "file")) for _ in range(2)] == [True, True]


def test_the_end_of_a_program_follows_no_link_of_code(tmp_path):
    (tmp_path / "place").mkdir()
    (tmp_path / "kept" / "below").mkdir(parents=True)
    os.chmod(tmp_path / "kept" / "below", 0o755)
    (tmp_path / "cache").symlink_to(tmp_path / "kept")
    overlay.remove([str(tmp_path / "place"), str(tmp_path / "cache")], os.open(os.devnull, os.O_RDONLY), os.getpid())
    assert not (tmp_path / "place").exists() and os.stat(tmp_path / "kept" / "below").st_mode & 0o777 == 0o755


PLANTED = """
import os
for folder in ({folders}):
    try:
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "pyexecd")
        open(path, "w").write("#!/bin/sh\\ntouch {escaped}\\nexit 1\\n")
        os.chmod(path, 0o755)
    except OSError as error:
        print(error.strerror)
"""


def test_libraries_that_code_has_planted_are_not_loaded(tmp_path, index):
    """The last part of LD_LIBRARY_PATH is empty, which is the current directory."""
    libraries = installed.subprocess.run(["ldd", installed.PYEXECD], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in libraries.splitlines() if "=>" in line]
    plant = f"for name in {names!r}: open(name, 'w').write('planted')"
    index.variables["LD_LIBRARY_PATH"] = "/usr/lib/nowhere:"
    planted, seen = program(tmp_path, index, f"""
os.mkdir("project")
os.chdir("project")
executor = coding.LocalCommandLineCodeExecutor()
print(json.dumps([run(executor, ("python", {plant!r})), run(executor, ("sh", "pip install gadget==1.0"), ("python", {VERSION!r}))]))
""")
    assert planted["exit_code"] == 0 and names, planted
    assert (seen["exit_code"], seen["output"]) == (0, "Successfully installed gadget-1.0\n1.0\n"), seen


def test_a_server_that_code_has_planted_is_not_started(tmp_path, index):
    """PATH leads to the directory, and the Python of the program lies in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    made = installed.run(installed.python("ag2"), "-m", "venv", "--without-pip", folder / ".venv", home=folder)
    assert made.returncode == 0, made
    (packages,) = (folder / ".venv" / "lib").glob("python3*/site-packages")
    (their,) = (installed.DEPS / "ag2" / "lib").glob("python3*/site-packages")
    (packages / "their.pth").write_text(f"{their}\n")
    plant = PLANTED.format(folders="'bin', '.venv/bin'", escaped=tmp_path / "escaped")
    (folder / "program.py").write_text(PROGRAM + f"""
executor = coding.LocalCommandLineCodeExecutor()
print(json.dumps([run(executor, ("python", {plant!r})), run(executor, ("sh", "pip install gadget==1.0"))]))
""")
    variables = package.variables(HOME=str(tmp_path), **index.variables)
    variables["PATH"] = f"{folder}/bin:{variables['PATH']}"
    done = installed.subprocess.run([folder / ".venv" / "bin" / "python", "program.py"], cwd=folder, capture_output=True,
                                    text=True, timeout=180, env=variables)
    assert done.returncode == 0, done
    planted, seen = json.loads(done.stdout.splitlines()[-1])
    assert planted["output"] == "Read-only file system\n" and seen["exit_code"] == 0, (planted, seen)
    assert not (tmp_path / "escaped").exists()
