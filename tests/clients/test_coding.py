"""The executors of AutoGen 0.2 that AG2 has kept, by a changed import, with AG2's own agents."""

import json
import sys

import installed
import package
import pytest

sys.path.append(str(installed.ROOT / "tests" / "integration"))

import wheels  # noqa: E402

PROGRAM = """
import json, os, sys
from autogen import ConversableAgent
from autogen.coding import CodeBlock
from pyexecd.coding import EmbeddedIPythonCodeExecutor, LocalCommandLineCodeExecutor

def run(executor, *blocks):
    result = executor.execute_code_blocks([CodeBlock(language=language, code=code) for language, code in blocks])
    return result.model_dump()
"""


def program(tmp_path, text, **more):
    """What TEXT prints, as JSON, run behind PROGRAM by a Python with AG2 and with the variables MORE."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + text)
    return json.loads(package.run("ag2", path, home=tmp_path, **more).splitlines()[-1])


def test_an_agent_executes_the_blocks_of_a_message_and_answers(tmp_path):
    answer = program(tmp_path, """
executor = LocalCommandLineCodeExecutor(work_dir="coding", timeout=20)
agent = ConversableAgent("runner", llm_config=False, human_input_mode="NEVER",
                         code_execution_config={"executor": executor})
message = "Here:\\n```python\\nopen('a', 'w').write('kept')\\nprint(6 * 7)\\n```\\n```sh\\ncat a\\n```\\n"
print(json.dumps(agent.generate_reply([{"role": "user", "content": message}])))
""")
    assert answer == "exitcode: 0 (execution succeeded)\nCode output: 42\nkept"


MESSAGES = [
    ("```python\nprint(1)\n```", [["python", "print(1)"]]),
    ("a\n```c++\nint a;\n```\n```sh\nls\n```", [["c++", "int a;"], ["sh", "ls"]]),
    ("~~~ python title=a\nx\n~~~", [["python", "x"]]),
    ("````md\n```python\nx\n```\n````", [["md", "```python\nx\n```"]]),
    ("```python\ntext = '\n~~~\n'\n```", [["python", "text = '\n~~~\n'"]]),
    ("1. b\r\n   ```python\r\n   if x:\r\n       y\r\n   ```\r\n", [["python", "if x:\n    y"]]),
    ("```\nx = 1\n```", [["python", "x = 1"]]),
    ("```\npip install a\n```", [["sh", "pip install a"]]),
    ("```sh\n```\n", [["sh", ""]]),
    ("```python\nnever closed\n", [["python", "never closed"]]),
    ("```python\nx```\ny\n```", [["python", "x```\ny"]]),
    ("```\n    ```\n```", [["", "    ```"]]),
    ("a ```python\nx\n", []),
    ("``` a ``` b\n", []),
    ("no code", []),
]


def test_blocks_of_any_fence_are_found(tmp_path):
    """AutoGen's own extractor misses most of these, or takes them apart."""
    found = program(tmp_path, f"""
extractor = EmbeddedIPythonCodeExecutor(output_dir=".").code_extractor
print(json.dumps([[[block.language, block.code] for block in extractor.extract_code_blocks(text)]
                  for text in json.loads({json.dumps([message for message, _ in MESSAGES])!r})]))
""")
    assert found == [blocks for _, blocks in MESSAGES]


def test_policies_save_and_run_and_what_earlier_blocks_printed_is_kept(tmp_path):
    saved, failed, late = program(tmp_path, """
executor = LocalCommandLineCodeExecutor(work_dir="coding", timeout=10, execution_policies={"bash": False})
print(json.dumps([
    run(executor, ("python", "print(1)"), ("html", "<!-- filename: page.html -->\\n<p>"), ("bash", "echo never")),
    run(executor, ("sh", "echo kept"), ("fortran", "x")),
    run(executor, ("sh", "echo kept"), ("python", "import time\\nprint('partly', flush=True)\\ntime.sleep(60)"))]))
""")
    page = tmp_path / "coding" / "page.html"
    assert saved["exit_code"] == 0 and saved["output"].startswith(f"1\nCode saved to {page}\nCode saved to ")
    assert page.read_text().endswith("<p>") and "never" not in saved["output"]
    assert failed == {"exit_code": 1, "output": "kept\n\nunknown language fortran", "code_file": failed["code_file"]}
    assert late["exit_code"] == 124 and all(word in late["output"] for word in ("kept", "Timeout", "partly"))


def test_functions_of_the_program_can_be_imported(tmp_path):
    seen, prompt = program(tmp_path, """
def double(number: int) -> int:
    \\"\\"\\"Twice NUMBER.\\"\\"\\"
    return 2 * number

executor = LocalCommandLineCodeExecutor(work_dir="coding", functions=[double], functions_module="own")
print(json.dumps([run(executor, ("python", "from own import double; print(double(21))")),
                  executor.format_functions_for_prompt()]))
""".replace('\\"', '"'))
    assert (seen["exit_code"], seen["output"]) == (0, "42\n")
    assert "def double(number: int) -> int:" in prompt and "from own import foo" in prompt


def test_cells_share_their_variables_until_a_restart(tmp_path):
    value, late, after, gone = program(tmp_path, """
os.mkdir("out")
executor = EmbeddedIPythonCodeExecutor(output_dir="out", timeout=10)
seen = [run(executor, ("python", "x = 6"), ("python", "x * 7")),
        run(executor, ("python", "import time\\nprint('partly', flush=True)\\ntime.sleep(60)")),
        run(executor, ("python", "x"))]
executor.restart()
print(json.dumps([*seen, run(executor, ("python", "x"))]))
""")
    assert (value["exit_code"], value["output"]) == (0, "42\n")
    assert late["exit_code"] == 1 and "timed out" in late["output"] and "partly" in late["output"]
    assert after["output"] == "6\n"
    assert gone["exit_code"] == 1 and "NameError" in gone["output"]


def test_a_cell_installs_packages_for_its_session(tmp_path):
    (tmp_path / "packages").mkdir()
    wheels.wheel(tmp_path / "packages", "gadget")
    with wheels.Index(tmp_path / "packages") as index:
        installed_one, later, failed, gone = program(tmp_path, """
from pyexecd.coding import JupyterCodeExecutor, LocalJupyterServer
os.mkdir("out")
embedded = EmbeddedIPythonCodeExecutor(output_dir="out", timeout=60)
seen = [run(embedded, ("python", "!pip install gadget\\nimport gadget; gadget.VERSION")),
        run(embedded, ("python", "gadget.VERSION")),
        run(embedded, ("python", "%pip install nothing-like-it"))]
with LocalJupyterServer() as server:
    seen.append(run(JupyterCodeExecutor(server, output_dir="out"), ("python", "import gadget")))
print(json.dumps(seen))
""", PIP_INDEX_URL=index.url)
    assert (installed_one["exit_code"], installed_one["output"]) == (0, "'1.0'\n"), installed_one
    assert later["output"] == "'1.0'\n"
    assert failed["exit_code"] == 1 and "nothing-like-it" in failed["output"]
    assert gone["exit_code"] == 1 and "No module named 'gadget'" in gone["output"]


def test_executors_of_a_jupyter_server_have_a_session_each_and_end_with_it(tmp_path):
    first, second, drawn, gone = program(tmp_path, """
from pyexecd.coding import JupyterCodeExecutor, LocalJupyterServer
os.mkdir("out")
picture = "open('new.png', 'wb').write(b'')"
with LocalJupyterServer() as server:
    one = JupyterCodeExecutor(server, output_dir="out")
    two = JupyterCodeExecutor(server.connection_info, timeout=20)
    seen = [run(one, ("python", "x = 6"), ("python", "x * 7")), run(two, ("python", "x")),
            run(one, ("python", picture + ";"))]
try:
    run(two, ("python", "1"))
except Exception as error:
    seen.append(str(error))
print(json.dumps(seen))
""")
    assert (first["exit_code"], first["output"]) == (0, "42\n")
    assert second["exit_code"] == 1 and "NameError" in second["output"]
    path = str(tmp_path / "out" / "new.png")
    assert drawn["output_files"] == [path] and f"Image data saved to {path}" in drawn["output"]
    assert "closed" in gone or "ended" in gone, gone


def test_pictures_have_the_form_that_they_are_drawn_in(tmp_path):
    """AutoGen's embedded executor saves each as PNG; its Jupyter executor prints all others as JSON."""
    drawn, text = program(tmp_path, """
os.mkdir("out")
executor = EmbeddedIPythonCodeExecutor(output_dir="out")
code = "class Drawn:\\n    def _repr_%s_(self): return %r\\ndisplay(Drawn())"
seen = run(executor, *(("python", code % pair) for pair in (
    ("svg", "<svg/>"), ("jpeg", b"\\xff\\xd8"), ("html", "<p>"), ("markdown", "**text**"))))
print(json.dumps([seen["output_files"], seen["output"]]))
""")
    assert drawn == [str(tmp_path / "out" / name) for name in ("display-1.svg", "display-2.jpg", "display-3.html")]
    assert (tmp_path / "out" / "display-1.svg").read_text() == "<svg/>" and "**text**" in text


def test_nothing_listens_and_no_token_is_seen(tmp_path):
    """A server of Jupyter's listens, on all addresses if it is in a container, and has its token in the list of processes."""
    value, listening, words = program(tmp_path, """
from pyexecd.coding import JupyterCodeExecutor, LocalJupyterServer

def look(path, how):
    try:  # of what comes and goes meanwhile
        return how(path)
    except OSError:
        return ""

def read(path):
    return look(path, lambda path: open(path).read())

def names(folder):
    return [f"{folder}/{name}" for name in look(folder, os.listdir)]

def below(pid):
    children = [int(each) for task in names(f"/proc/{pid}/task") for each in read(f"{task}/children").split()]
    return [pid, *(each for child in children for each in below(child))]

with LocalJupyterServer(token="secret-token") as server:
    executor = JupyterCodeExecutor(server)
    value = run(executor, ("python", "6 * 7"))
    pids = below(os.getpid())
    opened = {look(link, os.readlink) for pid in pids for link in names(f"/proc/{pid}/fd")}
    states = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}")]
    print(json.dumps([value["output"], [each for each in states if each[3] == "0A" and f"socket:[{each[9]}]" in opened],
                      " ".join(read(f"/proc/{pid}/cmdline") for pid in pids)]))
""")
    assert value == "42\n" and listening == [] and "pyexecd" in words and "secret-token" not in words


def test_what_cannot_be_had_is_refused_by_name(tmp_path):
    said = program(tmp_path, """
from pyexecd import coding
said = []
for make in (lambda: coding.DockerCommandLineCodeExecutor(timeout=0),
             lambda: coding.DockerCommandLineCodeExecutor(work_dir="a", bind_dir="b"),
             lambda: coding.DockerCommandLineCodeExecutor(stop_container=False),
             lambda: coding.DockerCommandLineCodeExecutor(container_create_kwargs={"privileged": True}),
             lambda: coding.DockerJupyterServer(stop_container=False),
             lambda: coding.DockerJupyterServer(cap_add=["ALL"]),
             lambda: coding.JupyterCodeExecutor(coding.JupyterConnectionInfo("127.0.0.1", False, 8888)),
             lambda: coding.JupyterCodeExecutor(coding.LocalJupyterServer(), output_dir="/none"),
             lambda: coding.JupyterCodeExecutor(coding.LocalJupyterServer(), kernel_name="ir")):
    try:
        make()
        said.append("taken")
    except ValueError as error:
        said.append(str(error))
print(json.dumps(said))
""")
    for text, word in zip(said, ("Timeout must be", "bind_dir", "stop_container", "privileged", "stop_container", "cap_add",
                                 "jupyter_server must be", "Output directory /none does not exist.", "Kernel ir"), strict=True):
        assert word in text


def test_what_cannot_begin_leaves_no_server_however_long_its_error_is_kept(tmp_path):
    said = program(tmp_path, """
from pyexecd import coding
os.environ["DOCKER_HOST"] = f"unix://{os.getcwd()}/nobody"
settings = {"executable": "/usr/bin/false"}
kept, children = [], []
for make in (lambda: coding.DockerCommandLineCodeExecutor(),
             lambda: coding.JupyterCodeExecutor(coding.LocalJupyterServer(settings=settings))):
    try:
        make()
    except RuntimeError as error:
        kept.append(error)
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                children += file.read().split()
        except OSError:  # the thread has ended
            pass
print(json.dumps([len(kept), children]))
""")
    assert said == [2, []]


def test_pip_is_quiet_as_in_autogen(tmp_path):
    seen = program(tmp_path, """
executor = LocalCommandLineCodeExecutor(work_dir="coding", timeout=20)
print(json.dumps(open(run(executor, ("sh", "echo first\\npip install --help >/dev/null"))["code_file"]).read()))
""")
    assert seen == "echo first\npip install -qqq --help >/dev/null"


@pytest.mark.parametrize("name, arguments, told", [
    ("commandline-local", {"work_dir": "coding"}, "ours in a sandbox"), ("ipython-embedded", {}, "ours in a sandbox"),
    ("unknown", {}, "Unknown code executor unknown")])
def test_a_name_of_an_executor_means_ours_once_that_is_said(tmp_path, name, arguments, told):
    (tmp_path / "secret").write_text("")
    code = f"import os; print('ours in a sandbox' if not os.path.exists({str(tmp_path / 'secret')!r}) else 'not')"
    config = {"executor": name, name: arguments}
    assert told in program(tmp_path, f"""
import pyexecd.coding
pyexecd.coding.install()
pyexecd.coding.install()
os.mkdir("own")
os.chdir("own")
try:
    agent = ConversableAgent("runner", llm_config=False, human_input_mode="NEVER", code_execution_config={config!r})
    message = "```python\\n" + {code!r} + "\\n```\\n"
    print(json.dumps(agent.generate_reply([{{"role": "user", "content": message}}])))
except ValueError as error:
    print(json.dumps(str(error)))
""")


def test_a_model_reads_of_no_argument_that_the_executors_lack(tmp_path):
    answer = program(tmp_path, """
executor = LocalCommandLineCodeExecutor(work_dir="coding", timeout=20)
print(json.dumps(run(executor, ("python", "import nothing_like_it"))))
""")
    assert answer["exit_code"] == 1 and "Calls cannot ask for packages here" in answer["output"], answer
    assert "environment_definition" not in answer["output"]


# What code puts into the way of this program


def test_code_cannot_read_or_change_the_configuration_of_its_server(tmp_path):
    """Temporary files lie in its directory."""
    (tmp_path / "coding" / "temporary").mkdir(parents=True)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + """
print(json.dumps(run(LocalCommandLineCodeExecutor(work_dir="coding"), ("python", "import os; print(os.listdir('temporary'))"))))
""")
    seen = json.loads(package.run("ag2", path, home=tmp_path, TMPDIR=str(tmp_path / "coding" / "temporary")))
    assert seen["output"] == "[]\n", seen


def test_libraries_that_code_has_planted_are_not_loaded(tmp_path):
    """The last part of LD_LIBRARY_PATH is empty, which is the current directory."""
    libraries = installed.subprocess.run(["ldd", installed.PYEXECD], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in libraries.splitlines() if "=>" in line]
    plant = f"for name in {names!r}: open(name, 'w').write('planted')"
    (tmp_path / "program.py").write_text(PROGRAM + f"""
os.mkdir("project")
os.chdir("project")
print(json.dumps([run(LocalCommandLineCodeExecutor(), ("python", code)) for code in ({plant!r}, "print(6 * 7)")]))
""")
    printed = package.run("ag2", tmp_path / "program.py", home=tmp_path, LD_LIBRARY_PATH="/usr/lib/nowhere:")
    planted, seen = json.loads(printed)
    assert names and (planted["exit_code"], seen["output"]) == (0, "42\n"), (planted, seen)


PLANTED = """
import os
def plant(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "pyexecd")
        if os.path.exists(path): os.unlink(path)
        open(path, "w").write("#!/bin/sh\\ntouch {escaped}\\nexit 1\\n")
        os.chmod(path, 0o755)
        return "planted"
    except OSError as error:
        return error.strerror
def rename():
    try:
        os.rename("tools", "away")
        return "renamed"
    except OSError as error:
        return error.strerror
print([plant(".venv/bin"), plant("bin"), plant("tools/here/bin"), rename()])
"""


def test_a_server_that_code_has_planted_is_not_started(tmp_path):
    """Beside the Python of the program, on PATH, and in place of the server: all of it lies in the directory of code."""
    folder = tmp_path / "project"
    tools = folder / "tools" / "here" / "bin"
    tools.mkdir(parents=True)
    (tools / "pyexecd").write_text(f'#!/bin/sh\nexec "{installed.PYEXECD}" "$@"\n')
    (tools / "pyexecd").chmod(0o755)
    made = installed.run(installed.python("ag2"), "-m", "venv", "--without-pip", folder / ".venv", home=folder)
    assert made.returncode == 0, made
    (packages,) = (folder / ".venv" / "lib").glob("python3*/site-packages")
    (their,) = (installed.DEPS / "ag2" / "lib").glob("python3*/site-packages")
    (packages / "their.pth").write_text(f"{their}\n")
    plant = PLANTED.format(escaped=tmp_path / "escaped")
    (folder / "program.py").write_text(PROGRAM + f"""
settings = {{"executable": "/usr/bin/python3"}}
print(json.dumps([run(LocalCommandLineCodeExecutor(settings=settings), ("python", code)) for code in ({plant!r}, "print(6 * 7)")]))
""")
    variables = package.variables(HOME=str(tmp_path), PATH=f"{folder}/bin:{tools}:/usr/bin:/bin")
    done = installed.subprocess.run([folder / ".venv" / "bin" / "python", "program.py"], cwd=folder, capture_output=True,
                                    text=True, timeout=180, env=variables)
    assert done.returncode == 0 and not (tmp_path / "escaped").exists(), done
    planted, seen = json.loads(done.stdout.splitlines()[-1])
    read_only = "Read-only file system"
    assert planted["output"] == f"{[read_only, 'planted', read_only, 'Device or resource busy']}\n", planted
    assert seen["output"] == "42\n", seen


def test_an_executor_begins_behind_no_link_that_code_has_made(tmp_path):
    """Its directory lies in that of another one."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("mine")
    told = program(tmp_path, """
os.makedirs("coding/sub")
run(LocalCommandLineCodeExecutor(work_dir="coding"), ("python", "import os; os.rmdir('sub'); os.symlink('../victim', 'sub')"))
try:
    print(json.dumps(run(LocalCommandLineCodeExecutor(work_dir="coding/sub"), ("python", "import os; os.remove('file')"))))
except Exception as error:
    print(json.dumps(str(error)))
""")
    assert (tmp_path / "victim" / "file").exists()
    assert told == f"{tmp_path}/coding/sub is a link, which code of this program can have made"


def test_executors_share_a_directory_by_a_link_of_the_user(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to("work")
    seen = program(tmp_path, """
code = "import os; print(os.path.exists('a')); open('a', 'w')"
print(json.dumps([run(LocalCommandLineCodeExecutor(work_dir="link"), ("python", code))["output"] for _ in range(2)]))
""")
    assert seen == ["False\n", "True\n"]


KEPT = """
from pyexecd import writable
writable.add({"type": "system"}, "coding")
print(json.dumps({name: value for name, value in writable.variables().items() if name in os.environ["NAMES"].split()}))
"""


def test_no_variable_leads_a_server_to_what_code_has_written(tmp_path):
    (tmp_path / "coding").mkdir()
    (tmp_path / "link").symlink_to("coding/bin")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + KEPT)
    given = {"TMPDIR": f"{tmp_path}/coding", "OPENSSL_CONF": f"{tmp_path}/link/openssl.cnf", "DOCKER_HOST": f"unix://{tmp_path}/coding/s",
             "LD_LIBRARY_PATH": f"/usr/lib:{tmp_path}/coding:", "LD_PRELOAD": "lib.so", "SOMETHING": "else", "SSL_CERT_DIR": "/etc/ssl"}
    python = f"{package.variables()['PYTHONPATH']}"
    printed = package.run("ag2", path, home=tmp_path, NAMES=" ".join(["PATH", "PYTHONPATH", "HOME", *given]), **given,
                          PATH=f".:{tmp_path}/link:{tmp_path}/coding/bin:bin:/usr/bin:/opt/a b", PYTHONPATH=f"{python}:coding")
    assert json.loads(printed) == {"HOME": str(tmp_path), "PATH": "/usr/bin:/opt/a b", "PYTHONPATH": python,
                                   "LD_LIBRARY_PATH": "/usr/lib", "SOMETHING": "else", "SSL_CERT_DIR": "/etc/ssl"}
