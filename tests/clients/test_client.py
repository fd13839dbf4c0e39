"""The Python package: what a program that uses it relies on, over each way to reach a server."""

import ast
import asyncio
import contextlib
import functools
import hashlib
import inspect
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import installed
import python_package

import pyexecd
from pyexecd.process import STOP_SECONDS

STUB = [sys.executable, str(pathlib.Path(__file__).with_name("stub_server.py"))]
SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(3000)\n"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WAIT_SECONDS = 120
over_each_way = pytest.mark.parametrize("way", python_package.WAYS)


def over_stdio(**configuration):
    configuration = {**python_package.CONFIGURATION, **configuration}
    return {"command": installed.PYEXECD, "config": configuration}


@over_each_way
def test_a_run_has_output_files_and_a_status(way, tmp_path):
    with python_package.reached(way, tmp_path) as arguments, pyexecd.Client(**arguments) as client:
        result = client.run_python("import sys\nopen('new.bin', 'wb').write(bytes(range(256)) * 8192)\n"
                                   "print(open('in/given.txt').read())\nsys.stderr.write('aside')",
                                   files={"in/given.txt": "süß", "in/raw": b"\0\xff"})
        assert (result.status, result.exit_code, result.is_error) == ("success", 0, False)
        assert (result.stdout, result.stderr) == ("süß\n", "aside")
        assert "Code output: süß" in result.text
        (file,) = [file for file in result.files if file.path == "new.bin"]
        assert client.read_file(file.uri) == bytes(range(256)) * 8192
        assert file.path in [listed.path for listed in client.list_files(result.working_directory)]
        again = client.run_python("print(open('in/raw', 'rb').read())", working_directory=result.working_directory)
        assert again.stdout == "b'\\x00\\xff'\n"


@over_each_way
def test_an_asynchronous_client_does_the_same(way, tmp_path):
    async def program(arguments):
        async with pyexecd.AsyncClient(**arguments) as client:
            results = await asyncio.gather(*(client.run_python(f"print({number})") for number in range(8)))
            made = await client.run_python("open('a.txt', 'w').write('a' * 10)")
            async with client.session() as session:
                cells = [await session.run("x = 20"), await session.run("x + 1")]
            blocks = await client.run_code_blocks(message="```python\nprint(2)\n```")
            tools = {tool["name"] for tool in await client.list_tools()}
            return results, await client.read_file(made.files[0].uri), cells, blocks, tools

    with python_package.reached(way, tmp_path) as arguments:
        results, data, cells, blocks, tools = asyncio.run(program(arguments))
    assert [result.stdout for result in results] == [f"{number}\n" for number in range(8)]
    assert data == b"a" * 10
    assert cells[1].stdout == "21\n"
    assert blocks.blocks[0].result.stdout == "2\n"
    assert {"run_python", "run_code_blocks", "manage_sessions"} <= tools


@over_each_way
def test_many_threads_call_at_once(way, tmp_path):
    found = {}
    with python_package.reached(way, tmp_path) as arguments, pyexecd.Client(**arguments) as client:
        def call(number):
            found[number] = client.run_python(f"print({number})").stdout

        threads = [threading.Thread(target=call, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_SECONDS)
    assert found == {number: f"{number}\n" for number in range(12)}


HEARD = """import os, sys, time
print('first', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
os.remove('go')
print('ü')
print('aside', end='', file=sys.stderr)"""


class Ears:
    """Callbacks for output. What is heard first lets the program in FOLDER go on."""

    def __init__(self, folder):
        self.folder = folder
        self.heard = {"on_stdout": "", "on_stderr": ""}
        self.callbacks = {name: functools.partial(self.hear, name) for name in self.heard}

    def hear(self, name, text):
        if text == "first\n":
            (self.folder / "go").touch()
        self.heard[name] += text

    def take(self):
        heard, self.heard = list(self.heard.values()), {"on_stdout": "", "on_stderr": ""}
        return heard


@over_each_way
def test_output_is_heard_while_its_program_runs(way, tmp_path):
    ears = Ears(tmp_path / "work")
    ears.folder.mkdir()
    with python_package.reached(way, tmp_path, working_directory=str(ears.folder)) as arguments:
        with pyexecd.Client(**arguments, timeout=WAIT_SECONDS) as client, client.session() as session:
            results = [client.run_python(HEARD, timeout=100, **ears.callbacks)]
            assert ears.take() == ["first\nü\n", "aside"]
            results.append(session.run(HEARD, timeout=100, **ears.callbacks))
            assert ears.take() == ["first\nü\n", "aside"]
            blocks = [("python", "print('zero')"), ("python", HEARD)]
            results.append(client.run_code_blocks(blocks, timeout=100, **ears.callbacks).blocks[1].result)
            assert ears.take() == ["zero\nfirst\nü\n", "aside"]
    assert [(result.stdout, result.stderr) for result in results] == 3 * [("first\nü\n", "aside")]


@over_each_way
def test_an_asynchronous_client_hears_output_too(way, tmp_path):
    ears = Ears(tmp_path / "work")
    ears.folder.mkdir()

    async def program(arguments):
        async with pyexecd.AsyncClient(**arguments, timeout=WAIT_SECONDS) as client, client.session() as session:
            await client.run_python(HEARD, timeout=100, **ears.callbacks)
            await session.run(HEARD, timeout=100, **ears.callbacks)
            await client.run_code_blocks([("python", HEARD)], timeout=100, **ears.callbacks)

    with python_package.reached(way, tmp_path, working_directory=str(ears.folder)) as arguments:
        asyncio.run(program(arguments))
    assert ears.take() == [3 * "first\nü\n", 3 * "aside"]


def test_output_that_is_left_out_is_said_in_a_line():
    heard = []
    with pyexecd.Client(**over_stdio()) as client:
        result = client.run_python("import sys\nfor i in range(64): sys.stdout.write('x' * (1 << 20))",
                                   on_stdout=heard.append)
    line = r"\n\.\.\. \[(\d+) bytes left out\] \.\.\.\n"
    missing = [int(number) for number in re.findall(line, "".join(heard))]
    assert missing and len(re.sub(line, "", "".join(heard))) + sum(missing) == result.structured["stdout_bytes"] == 64 << 20


def test_what_is_missing_is_counted_for_each_code_block():
    heard = []
    listener = pyexecd.listener.Listener(on_stdout=heard.append)
    for offset, length, text in (0, 3, "one"), (9, 0, ""), (4, 3, "two"):
        listener.hear(listener.admit(pyexecd.connection.Output("stdout", offset, length, text)))
    listener.finish()
    assert "".join(heard) == "one\n... [6 bytes left out] ...\n... [4 bytes left out] ...\ntwo"


def test_a_callback_that_is_too_slow_misses_output():
    heard = []
    listener = pyexecd.listener.Listener(on_stdout=heard.append)
    length = pyexecd.listener.UNHEARD_CHARACTERS // 16
    pieces = [pyexecd.connection.Output("stdout", n * length, length, "x" * length) for n in range(40)]
    for piece in [listener.admit(piece) for piece in pieces]:
        listener.hear(piece)
    listener.hear(listener.admit(pyexecd.connection.Output("stdout", 40 * length, 2, "y\n")))
    listener.finish()
    assert "".join(heard) == 16 * length * "x" + f"\n... [{24 * length} bytes left out] ...\ny\n"


@over_each_way
def test_a_cancelled_call_ends_its_program(way, tmp_path):
    """There is one place: the next call runs only if the program in it is gone."""
    cancel = threading.Event()
    with python_package.reached(way, tmp_path, limits={"concurrent_runs": 1}, max_timeout=6000) as arguments:
        with pyexecd.Client(**arguments, timeout=WAIT_SECONDS) as client:
            with pytest.raises(pyexecd.CallCancelled):
                client.run_python(SLEEP, timeout=6000, on_progress=lambda line: cancel.set(), cancel=cancel)
            assert client.run_python("print(1)", timeout=6000).stdout == "1\n"


@over_each_way
def test_a_cancelled_task_ends_its_program(way, tmp_path):
    async def program(arguments):
        async with pyexecd.AsyncClient(**arguments, timeout=WAIT_SECONDS) as client:
            begun = asyncio.Event()
            task = asyncio.ensure_future(client.run_python(SLEEP, timeout=6000,
                                                           on_progress=lambda line: begun.set()))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await client.run_python("print(1)", timeout=6000)

    with python_package.reached(way, tmp_path, limits={"concurrent_runs": 1}, max_timeout=6000) as arguments:
        assert asyncio.run(program(arguments)).stdout == "1\n"


def test_a_program_that_fails_is_a_result():
    with pyexecd.Client(**over_stdio()) as client:
        failed = client.run_python("print('before')\n1 / 0")
        assert (failed.status, failed.exit_code, failed.is_error) == ("failure", 1, True)
        assert failed.stdout == "before\n"
        assert "ZeroDivisionError" in failed.stderr and "ZeroDivisionError" in failed.text
        with pytest.raises(pyexecd.ToolError, match="ZeroDivisionError"):
            failed.check()
        for timeout in (1, 5, 30):  # a busy machine takes longer to begin it
            stopped = client.run_python(SLEEP, timeout=timeout)
            if stopped.stdout:
                break
        assert (stopped.status, stopped.stdout) == ("timeout", "begun\n")


MISTAKES = {
    "no text": (TypeError, "code must be str, not int", {"code": 123}),
    "an unknown environment": (pyexecd.CallRefused, "environment must be", {"environment": "elsewhere"}),
    "too long a timeout": (pyexecd.CallRefused, "timeout must be at most", {"timeout": 1e6}),
    "a session that is over": (pyexecd.CallRefused, "there is no session", {"session": "over"}),
    "a file that is elsewhere": (pyexecd.CallRefused, "leads out", {"files": {"../a": "text"}}),
    "a file without content": (TypeError, "content of a must be str, bytes or a path", {"files": {"a": None}}),
    "a text for files": (TypeError, "files must be a dict", {"files": "a.txt"}),
    "a file that is not there": (FileNotFoundError, "nowhere", {"files": [pathlib.Path("/nowhere/a.txt")]}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_the_program_is_raised(mistake):
    kind, words, arguments = MISTAKES[mistake]

    async def program():
        async with pyexecd.AsyncClient(**over_stdio()) as client:
            await client.run_python(**{"code": "print(1)", **arguments})

    with pyexecd.Client(**over_stdio()) as client:
        with pytest.raises(kind, match=words):
            client.run_python(**{"code": "print(1)", **arguments})
        assert client.run_python("print(1)").stdout == "1\n"
    with pytest.raises(kind, match=words):
        asyncio.run(program())


def test_code_blocks_that_are_refused_are_raised():
    with pyexecd.Client(**over_stdio()) as client, pytest.raises(pyexecd.ToolError, match="at least 1 item"):
        client.run_code_blocks([])


LARGE = bytes(range(256)) * 20_000
DIGEST = "import hashlib, sys; print(hashlib.sha256(open('in/large', 'rb').read()).hexdigest(), open('in/small').read())"


def test_files_of_the_disk_go_with_a_call_however_large_they_are(tmp_path):
    large, small = tmp_path / "large.bin", tmp_path / "small.txt"
    large.write_bytes(LARGE)
    small.write_text("süß")
    told = f"{hashlib.sha256(LARGE).hexdigest()} süß\n"

    async def program():
        async with pyexecd.AsyncClient(**over_stdio()) as client, client.session() as session:
            await session.run("import os; os.mkdir('elsewhere'); os.chdir('elsewhere')")
            await session.run("os.chdir('..')", files={"in/large": large, "in/small": small})
            begun = await client.run_python(DIGEST, session="new", files={"in/large": large, "in/small": small})
            return (await session.run(DIGEST)).stdout, begun.stdout

    with pyexecd.Client(**over_stdio()) as client:
        ran = client.run_python(DIGEST, files={pathlib.Path("in/large"): large, "in/small": small})
        assert (ran.stdout, ran.status) == (told, "success")
        bytewise = client.run_python(DIGEST, files={"in/large": LARGE, "in/small": "süß".encode()},
                                     working_directory=ran.working_directory)
        assert bytewise.stdout == told and bytewise.working_directory == ran.working_directory
        named = client.run_python("import glob; print(sorted(glob.glob('*.*')))", files=[small, str(large)])
        assert named.stdout == "['large.bin', 'script.py', 'small.txt']\n"
        with pytest.raises(ValueError, match="client.session"):
            client.run_python("1", session="some", files=[large])
    assert asyncio.run(program()) == (told, told)


def test_hundreds_of_files_go_with_a_call():
    with pyexecd.Client(**over_stdio()) as client:
        counted = client.run_python("import glob; print(len(glob.glob('f*')))", files={f"f{number}": "" for number in range(150)})
    assert counted.stdout == "150\n"


def test_a_file_of_a_result_can_be_read():
    async def program():
        async with pyexecd.AsyncClient(**over_stdio()) as client:
            made = await client.run_python(MAKES)
            return await client.read_file(made.files[0])

    MAKES = "open('a.txt', 'w').write('a' * 10)"
    with pyexecd.Client(**over_stdio()) as client:
        assert client.read_file(client.run_python(MAKES).files[0]) == b"a" * 10
    assert asyncio.run(program()) == b"a" * 10


def test_a_configuration_that_is_wrong_is_an_error_with_the_words_of_the_server(tmp_path):
    async def program():
        async with pyexecd.AsyncClient(installed.PYEXECD, config={"timeuot": 60}):
            raise AssertionError

    told = 'timeuot: unknown key "timeuot", did you mean "timeout"?'
    with pytest.raises(pyexecd.ConfigurationError) as raised:
        pyexecd.Client(installed.PYEXECD, config={"timeuot": 60})
    assert str(raised.value) == told
    with pytest.raises(pyexecd.ConfigurationError, match="^timeuot"):
        asyncio.run(program())
    file = tmp_path / "own.yaml"
    with pytest.raises(pyexecd.ConfigurationError, match="own.yaml: cannot be opened"):
        pyexecd.Client(installed.PYEXECD, config=file)
    python_package.written(file, "timeuot: 60\n")
    with pytest.raises(pyexecd.ConfigurationError, match="own.yaml:1:1: timeuot"):
        pyexecd.Client(installed.PYEXECD, config=file)


DEFAULTS = """
import os, sys, pyexecd
with pyexecd.Client(*sys.argv[1:]) as client:
    print(client.run_python("import sys; print(sys.executable)").stdout.strip() == sys.executable)
    with client.session() as session:
        session.run("x = 6")
        print(session.run("x * 7").stdout.strip())
    print(client.run_code_blocks([("python", "import pydantic_core; print(pydantic_core.__name__)")]).blocks[0].result.stdout)
"""


@pytest.mark.parametrize("named", [True, False], ids=["named", "found"])
def test_code_runs_in_the_python_of_the_program_with_sessions_and_blocks(named, tmp_path):
    """Also where that is a virtual environment, of which code has the packages."""
    path = f"{pathlib.Path(installed.PYEXECD).parent}:/usr/bin:/bin"
    done = installed.run(installed.python("providers"), "-c", DEFAULTS, *[installed.PYEXECD] * named, home=tmp_path,
                         PATH=path, PYTHONPATH=str(python_package.FOLDER))
    assert done.stdout.split() == ["True", "42", "pydantic_core"], done


def tools(*arguments, **more):
    with pyexecd.Client(*arguments, **more) as client:
        return {tool["name"] for tool in client.list_tools()}


def test_the_configuration_says_what_else_is_served(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert tools(installed.PYEXECD) == {"run_python", "run_code_blocks", "manage_sessions"}
    assert tools([installed.PYEXECD]) == {"run_python"}
    assert tools(installed.PYEXECD, config={"sessions": None}) == {"run_python", "run_code_blocks"}
    assert tools(installed.PYEXECD, config={"code_blocks": None}) == {"run_python", "manage_sessions"}
    own = {"environments": {"lab": {"type": "system", "environment": {"LAB": "x"}}}, "default_environment": "lab"}
    with pyexecd.Client(installed.PYEXECD, config=own) as client:
        assert client.run_python("import os; print(os.environ['LAB'])", environment="lab").stdout == "x\n"
    (tmp_path / ".config" / "pyexecd").mkdir(parents=True)
    python_package.written(tmp_path / ".config" / "pyexecd" / "config.yaml", "sessions: {}\n")
    assert tools(installed.PYEXECD) == {"run_python", "manage_sessions"}
    assert tools(installed.PYEXECD, config=tmp_path / ".config" / "pyexecd" / "config.yaml") == {"run_python", "manage_sessions"}
    monkeypatch.setenv("PYEXECD_CONFIG", python_package.written(tmp_path / "other.yaml", "code_blocks: {}\n"))
    assert tools(installed.PYEXECD) == {"run_python", "run_code_blocks"}


def test_paths_may_be_objects(tmp_path):
    configuration = {"working_directory": tmp_path / "work"}
    configuration["working_directory"].mkdir()
    with pyexecd.Client(pathlib.Path(installed.PYEXECD), config=configuration, cwd=tmp_path) as client:
        assert client.run_python("import os; print(os.getcwd())").stdout.strip().endswith("work")
    with python_package.reached("unix", tmp_path) as arguments:
        with pyexecd.Client(socket=pathlib.Path(arguments["socket"])) as client:
            assert client.run_python("print(1)").stdout == "1\n"


def test_a_result_is_one_line_for_people():
    with pyexecd.Client(**over_stdio()) as client:
        works = client.run_python("open('a', 'w'); print('one\\n' * 100)")
        fails = client.run_code_blocks([("python", "print(1)"), ("sh", "exit 3"), ("sh", "exit 4")])
    assert repr(works).startswith("<Result: success, ") and repr(works).endswith(", 1 file>")
    assert repr(works).count("one") < 20
    assert repr(fails) == "<CodeBlocksResult: exit code 3, 2 blocks, 1 left out>"
    assert not [each for each in (works, *fails.blocks) if "\n" in repr(each)]


SHOWN = """
import os, pyexecd
from IPython.core.formatters import DisplayFormatter
with pyexecd.Client(os.environ["PYEXECD"], config={}) as client:
    result = client.run_python(%r)
forms, _ = DisplayFormatter().format(result)
print(forms["text/plain"] == result.text, "&lt;" in forms["text/html"], '<img src="data:image/png;base64,' in forms["text/html"])
print(DisplayFormatter().format(result.images[0])[0]["image/png"][1:4])
"""


def test_a_notebook_shows_a_result_with_its_pictures(tmp_path):
    drawn = f"print('<p>'); import base64; open('a.png', 'wb').write(base64.b64decode('{PICTURE}'))"
    done = installed.run(installed.python("ipython"), "-c", SHOWN % drawn, home=tmp_path, PYEXECD=installed.PYEXECD,
                         PYTHONPATH=str(python_package.FOLDER))
    assert done.stdout.split() == ["True", "True", "True", "b'PNG'"], done


def test_the_module_is_the_program(tmp_path):
    path = f"{pathlib.Path(installed.PYEXECD).parent}:/usr/bin:/bin"
    done = installed.run(sys.executable, "-m", "pyexecd", "run", "-c", "raise SystemExit(5)", home=tmp_path, PATH=path,
                         PYTHONPATH=str(python_package.FOLDER))
    assert done.returncode == 5, done


def test_importing_it_imports_nothing_that_a_program_may_not_need(tmp_path):
    done = python_package.program(tmp_path, "import sys; before = set(sys.modules); import pyexecd\n"
                                            "print(*(set(sys.modules) - before))\nprint(pyexecd.__version__, pyexecd.AsyncClient)")
    heavy = {"asyncio", "html", "http.client", "importlib.metadata", "logging", "socket", "ssl", "subprocess", "tempfile",
             "urllib.parse"}
    assert not heavy & set(done.stdout.splitlines()[0].split())
    assert "AsyncClient" in done.stdout.splitlines()[1]


@pytest.mark.parametrize("name", [name for name in dir(pyexecd.Client) if not name.startswith("_")])
def test_both_clients_are_described_in_full(name):
    """For an editor shows a docstring alone."""
    other = getattr(pyexecd.AsyncClient, name)
    assert "As `Client" not in other.__doc__ and len(other.__doc__) > len(getattr(pyexecd.Client, name).__doc__) / 2


@pytest.mark.parametrize("method", [getattr(kind, name) for kind in (pyexecd.Client, pyexecd.AsyncClient, pyexecd.Session,
                                                                     pyexecd.AsyncSession)
                                    for name in dir(kind) if not name.startswith("_")], ids=lambda method: method.__qualname__)
def test_every_argument_is_described_where_it_is(method):
    names = [name for name in inspect.signature(method).parameters if name != "self"]
    undescribed = [name for name in names if not re.search(rf"\b({name}|{name.upper()})\b", method.__doc__)]
    assert not undescribed


def test_what_no_server_would_read_is_an_error_and_loses_nothing():
    with pyexecd.Client(**over_stdio()) as client:
        with pytest.raises(ValueError, match="limit"):
            client.run_python("#" * (5 << 20))
        with pytest.raises(ValueError):
            client.run_python("print('\ud800')")
        with pytest.raises(pyexecd.ProtocolError):
            client.read_file("pyexecd://nowhere/nothing")
        assert client.run_python("print(1)").stdout == "1\n"


def test_a_session_keeps_its_variables_until_it_is_restarted():
    with pyexecd.Client(**over_stdio()) as client, client.session() as session:
        assert session.handle is None
        session.run("x = 6").check()
        result = session.run("x * 7")
        assert (result.stdout, result.session, result.session_alive) == ("42\n", session.handle, True)
        session.restart()
        assert "NameError" in session.run("x").stderr
        session.close()
        with pytest.raises(pyexecd.CallRefused, match="it has ended"):
            session.run("1")


def test_a_session_begins_in_the_place_it_is_told():
    with pyexecd.Client(**over_stdio()) as client:
        made = client.run_python("open('a.txt', 'w').write('a')")
        with client.session(working_directory=made.working_directory) as session:
            assert session.run("open('a.txt').read()").stdout == "'a'\n"
        with client.session(environment="elsewhere") as session, pytest.raises(pyexecd.CallRefused):
            session.run("1")


@contextlib.contextmanager
def where_there_are_copies():
    try:
        yield
    except pyexecd.ToolError as error:
        if "gives a copy no cgroup" not in str(error):
            raise
        pytest.skip("this machine gives no cgroup of its own to a copy")


def test_a_copy_of_a_session_goes_on_by_itself():
    with where_there_are_copies(), pyexecd.Client(**over_stdio()) as client, client.session() as session:
        session.run("x = [6]")
        with session.fork() as copy:
            assert copy.run("x.append(7); x").stdout == "[6, 7]\n"
            assert copy.handle not in (None, session.handle)
        with pytest.raises(pyexecd.CallRefused):
            copy.run("x")
        assert session.run("x").stdout == "[6]\n"
        once = client.run_python("x * 2", fork=session.handle)
        assert (once.stdout, once.session_alive) == ("[6, 6]\n", True) and once.session != session.handle
        with session.fork().fork() as second:
            assert second.run("x").stdout == "[6]\n"


def test_a_copy_of_an_asynchronous_session_does_too():
    async def program():
        async with pyexecd.AsyncClient(**over_stdio()) as client, client.session() as session:
            async with await session.fork() as copy:
                begun = copy.handle, session.handle
                await copy.run("x = 1")
                return begun, (await session.run("x")).stderr, await client.run_python("1", fork=session.handle)

    with where_there_are_copies():
        (copied, first), error, once = asyncio.run(program())
        assert copied and first and copied != first and "NameError" in error and once.stdout == "1\n"


def test_a_copy_that_cannot_be_made_is_an_error():
    with pyexecd.Client(**over_stdio()) as client:
        with client.session() as session:
            session.run("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()")
            with pytest.raises(pyexecd.ToolError, match="thread|cgroup"):
                session.fork()
        with client.session(environment="elsewhere") as session:
            with pytest.raises(pyexecd.ToolError, match="environment must be"):
                session.fork()


def test_the_result_of_code_blocks_has_each_block():
    with pyexecd.Client(**over_stdio()) as client:
        result = client.run_code_blocks([("python", "open('a.txt', 'w').write('a'); print(1)"), ("sh", "exit 3"),
                                         {"code": "print(2)"}])
        assert (result.exit_code, result.left_out, result.is_error) == (3, 1, True)
        first, second = result.blocks
        assert (first.exit_code, first.result.stdout, first.error) == (0, "1\n", None)
        assert (second.language, second.file, second.result.exit_code) == ("sh", "block-2.sh", 3)
        assert result.text.startswith("exitcode: 3 (execution failed)")
        found = client.run_python("print(open('a.txt').read())", working_directory=result.working_directory)
        assert found.stdout == "a\n"


def test_a_picture_is_its_file():
    with pyexecd.Client(**over_stdio()) as client:
        result = client.run_python(f"import base64\nopen('a.png', 'wb').write(base64.b64decode('{PICTURE}'))")
    (image,) = result.images
    assert image.mime_type == "image/png" and image.data.startswith(b"\x89PNG")


def test_both_clients_work_inside_a_running_loop():
    async def program():
        with pyexecd.Client(**over_stdio()) as client:
            return client.run_python("print(1)").stdout

    assert asyncio.run(program()) == "1\n"


@pytest.mark.parametrize("callback", ["on_progress", "on_stdout"])
def test_an_exception_of_a_callback_cancels_the_call(callback):
    def stop(line):
        raise KeyError(line)

    arguments = over_stdio(limits={"concurrent_runs": 1}, max_timeout=6000)
    with pyexecd.Client(**arguments, timeout=WAIT_SECONDS) as client:
        with pytest.raises(KeyError, match="begun"):
            client.run_python(SLEEP, timeout=6000, **{callback: stop})
        assert client.run_python("print(1)", timeout=6000).stdout == "1\n"


def test_interrupting_a_program_cancels_its_call(tmp_path):
    """As Ctrl-C does it: the signal goes to the whole group of the terminal, and the server goes on."""
    done = python_package.program(tmp_path, """
import os, signal, pyexecd
os.setpgid(0, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it starts in the background
configuration = {"limits": {"concurrent_runs": 1}, "max_timeout": 6000}
with pyexecd.Client(os.environ["PYEXECD"], config=configuration, timeout=120) as client:
    try:
        client.run_python("import time; print('begun', flush=True); time.sleep(3000)", timeout=6000,
                          on_progress=lambda line: os.killpg(0, signal.SIGINT))
    except KeyboardInterrupt:
        print(client.run_python("print('goes on')", timeout=6000).stdout)
""")
    assert done.stdout.strip() == "goes on", done


def test_a_call_beyond_the_timeout_of_the_client_is_cancelled():
    def call(seconds):
        arguments = over_stdio(limits={"concurrent_runs": 1}, max_timeout=6000)
        with pyexecd.Client(**arguments, timeout=seconds) as client:
            with pytest.raises(pyexecd.CallTimeout):
                client.run_python(SLEEP, timeout=6000)
            return client.run_python("print(1)").stdout

    try:
        said = call(3)
    except pyexecd.CallTimeout:  # a busy machine takes longer for the second call, too
        said = call(20)
    assert said == "1\n"


def test_the_end_of_a_server_says_its_last_lines():
    with pyexecd.Client([*STUB, "dies"]) as client:
        with pytest.raises(pyexecd.ConnectionLost, match=r"(?s)exit code 3.*line 99"):
            client.run_python("print(1)")
        with pytest.raises(pyexecd.ConnectionLost, match="exit code 3"):
            client.run_python("print(1)")


def test_an_asynchronous_call_learns_of_the_end_too():
    async def program():
        async with pyexecd.AsyncClient([*STUB, "dies"]) as client:
            await client.run_python("print(1)")

    with pytest.raises(pyexecd.ConnectionLost, match="line 99"):
        asyncio.run(program())


def test_a_call_that_is_cancelled_at_the_start_of_the_server_leaves_it_to_others(tmp_path):
    count = tmp_path / "count"
    command = ["/bin/sh", "-c", f'echo one >>"{count}"; exec "{installed.PYEXECD}"']

    async def program():
        client = pyexecd.AsyncClient(command)
        first = asyncio.ensure_future(client.run_python("print(1)"))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        result = await client.run_python("print(6 * 7)")
        await client.close()
        return result.stdout

    assert asyncio.run(program()) == "42\n"
    assert count.read_text() == "one\n"


def test_a_server_that_does_not_end_is_killed():
    client = pyexecd.Client([*STUB, "hangs"])
    client.close()
    with pytest.raises(pyexecd.ConnectionLost, match="closed"):
        client.run_python("print(1)")


@pytest.mark.parametrize("how", ["echoes-badly", "echoes-deeply"])
def test_a_server_that_talks_nonsense_is_lost(how):
    with pyexecd.Client([*STUB, how]) as client:
        with pytest.raises(pyexecd.ConnectionLost):
            client.run_python("print(1)")


@pytest.mark.parametrize("arguments", [
    {"command": "/nowhere/pyexecd"}, {"socket": "/nowhere/socket"}, {"url": "tcp://127.0.0.1:1"},
    {"url": "http://127.0.0.1:1/mcp"}, {"command": [sys.executable, "-c", "raise SystemExit('no')"]},
], ids=["no program", "no socket", "no tcp", "no http", "ends at once"])
def test_a_server_that_is_not_there_is_an_error(arguments):
    with pytest.raises(pyexecd.ConnectionLost):
        pyexecd.Client(**arguments)


def test_a_wrong_token_is_an_error(tmp_path):
    with python_package.reached("http", tmp_path) as arguments:
        with pytest.raises(pyexecd.PyexecdError, match="401"):
            pyexecd.Client(**{**arguments, "token": "wrong"})


@pytest.mark.parametrize("arguments", [
    {"url": "ftp://example.org"}, {"url": "tcp://host"}, {"url": "http://h/mcp", "command": "pyexecd"},
    {"url": "http://h/mcp", "cwd": "/"}, {"url": "http://h/mcp", "socket": "/a"}, {"url": "/run/pyexecd/socket"},
    {"url": "localhost:7000"}, {"url": "unix:"}, {"socket": "unix:/a"}, {"token": "secret"},
    {"socket": "/a", "token": "secret"}], ids=str)
def test_arguments_that_contradict_are_refused(arguments):
    with pytest.raises(ValueError, match="url=|http://"):
        pyexecd.Client(**arguments)


def test_a_url_may_be_what_the_server_listens_on():
    """A path of another type is one of a socket."""
    with pytest.raises(pyexecd.ConnectionLost, match="127.0.0.1:1"):
        pyexecd.Client(url="tcp:127.0.0.1:1")
    with pytest.raises(TypeError, match="socket="):
        pyexecd.Client(url=pathlib.Path("/run/pyexecd/socket"))


def test_the_server_gets_the_whole_environment(monkeypatch):
    given = {"DOCKER_HOST": "unix:///nowhere", "PIP_RETRIES": "1", "UV_OFFLINE": "1", "HTTPS_PROXY": "http://p:1",
             "SOMETHING": "else"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pyexecd.Client([*STUB, "dies"]) as client:
        assert given.items() <= client.server_info["environ"].items()
    with pyexecd.Client([*STUB, "dies"], environ={"PATH": os.environ["PATH"]}) as client:
        assert "DOCKER_HOST" not in client.server_info["environ"]


def watched_server(folder):
    """A command that leaves the id of the server's process in a file."""
    file = pathlib.Path(folder) / "pid"
    return ["/bin/sh", "-c", f'echo $$ >"{file}"; exec "{installed.PYEXECD}"'], file


def has_ended(file):
    """Whether the process of FILE ends within a while. Who inherits it need not be one that waits for it."""
    status = pathlib.Path(f"/proc/{int(file.read_text())}/stat")
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


def test_closing_ends_the_server_and_leaves_no_zombie(tmp_path):
    command, file = watched_server(tmp_path)
    client = pyexecd.Client(command)
    client.close()
    assert not pathlib.Path(f"/proc/{int(file.read_text())}").exists()
    client.close()


def test_a_server_without_threads_to_talk_to_it_is_ended_at_once(tmp_path, monkeypatch):
    command, file = watched_server(tmp_path)

    def start(_thread):
        end = time.monotonic() + WAIT_SECONDS
        while not (file.exists() and file.read_text().strip()) and time.monotonic() < end:
            time.sleep(0.01)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError) as kept:
        pyexecd.Client(command)
    begun = time.monotonic()
    assert has_ended(file) and kept
    assert time.monotonic() - begun < STOP_SECONDS, "it lived on until somebody else ended it"


def test_a_client_that_nobody_has_any_more_is_closed(tmp_path):
    command, file = watched_server(tmp_path)
    pyexecd.Client(command).run_python("print(1)")
    assert has_ended(file)


@pytest.mark.parametrize("end", ["", "raise SystemExit(1)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
                         ids=["end", "exit", "killed"])
def test_the_server_ends_with_its_program(end, tmp_path):
    command, file = watched_server(tmp_path)
    done = python_package.program(tmp_path, f"import pyexecd\nclient = pyexecd.Client({command!r})\n"
                                            f"client.run_python('print(1)')\n{end}")
    assert done.stderr == ""
    assert has_ended(file)


def test_a_fork_does_not_end_the_server():
    """A child that ends as programs do has the client's files, too."""
    with pyexecd.Client(**over_stdio()) as client:
        child = os.fork()
        if child == 0:
            client.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert client.run_python("print(1)").stdout == "1\n"


def test_a_fork_that_lives_on_does_not_keep_the_server(tmp_path):
    """As a worker of multiprocessing does, which has copies of the pipes to the server."""
    command, file = watched_server(tmp_path)
    client = pyexecd.Client(command)
    child = os.fork()
    if child == 0:
        time.sleep(WAIT_SECONDS)
        os._exit(0)
    try:
        begun = time.monotonic()
        client.close()
        assert time.monotonic() - begun < STOP_SECONDS and not pathlib.Path(f"/proc/{int(file.read_text())}").exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("place", ["beside Python", "on PATH"])
def test_the_program_is_found(place, tmp_path):
    """By a Python that has it in its own folder, as where a wheel was installed; else by PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pyexecd").write_text(f'#!/bin/sh\nexec "{installed.PYEXECD}" "$@"\n')
    (folder / "pyexecd").chmod(0o755)
    code = ("import pyexecd, sys\nsys.executable = sys.argv[1]\n"
            "with pyexecd.Client(config={'environments': None}) as client: print(client.run_python('print(6 * 7)').stdout)")
    executable, path = str(folder / "python3"), "/usr/bin:/bin"
    if place == "on PATH":
        executable, path = "/nowhere/python3", f"{folder}:/usr/bin:/bin"
    done = python_package.program(tmp_path, code, executable, PATH=path)
    assert done.stdout.strip() == "42", done


def test_a_program_that_is_nowhere_is_an_error(tmp_path):
    done = python_package.program(
        tmp_path, "import pyexecd, sys\nsys.executable = '/nowhere/python3'\n"
                  "import sysconfig\nsysconfig.get_path = lambda name: '/nowhere'\n"
                  "try: pyexecd.Client()\nexcept pyexecd.ConnectionLost as error: print(error)", PATH="/nowhere")
    assert "install it, or name it" in done.stdout, done


def modules():
    return sorted((python_package.FOLDER / "pyexecd").glob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.name)
def test_older_pythons_can_read_it(path):
    ast.parse(path.read_text(), feature_version=(3, 9))
    assert all(len(line) <= 120 for line in path.read_text().splitlines())


def functions_without_types(path):
    """The functions of the module at PATH that `mypy --strict` would call untyped."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = function.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            if not function.returns or any(each and not each.annotation and each.arg not in ("self", "cls") for each in named):
                yield f"{path.name}:{function.lineno}: {function.name}"


def test_the_package_says_that_it_has_types():
    assert (python_package.FOLDER / "pyexecd" / "py.typed").exists()
    assert [each for path in modules() for each in functions_without_types(path)] == []


def other_pythons():
    """Those on PATH that are not the one of these tests. A name on PATH need not lead to a Python."""
    for name in "python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14":
        path = shutil.which(name)
        if path and os.path.realpath(path) != os.path.realpath(sys.executable):
            asked = subprocess.run([path, "-c", "import sys; print(sys.version_info >= (3, 9))"], text=True,
                                   capture_output=True, timeout=WAIT_SECONDS)
            if asked.stdout.strip() == "True":
                yield path


def test_other_pythons_can_use_it(tmp_path):
    others = list(other_pythons())
    if not others:
        pytest.skip("there is no other Python on PATH")
    code = ("import asyncio, os, pyexecd\n"
            "async def program():\n"
            "    async with pyexecd.AsyncClient(os.environ['PYEXECD']) as client:\n"
            "        return (await client.run_python('print(6 * 7)')).stdout\n"
            "with pyexecd.Client(os.environ['PYEXECD']) as client:\n"
            "    print(client.run_python('print(6 * 7)').stdout + asyncio.run(program()))")
    for other in others:
        done = installed.run(other, "-c", code, home=tmp_path, PYTHONPATH=str(python_package.FOLDER),
                             PYEXECD=installed.PYEXECD, PYTHONDONTWRITEBYTECODE="1")
        assert done.stdout.split() == ["42", "42"], done


def test_a_script_among_temporary_files_only_reads_the_configuration(tmp_path, monkeypatch):
    """A command is given it as a file."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    code = "import os\nfor folder, _, names in os.walk('.'):\n    for name in names:\n        try:\n" \
           "            open(os.path.join(folder, name), 'a')\n        except OSError as error:\n            print(name, error.strerror)\n"
    with pyexecd.Client(**over_stdio(working_directory=str(tmp_path))) as client:
        assert "pyexecd.yaml Read-only file system\n" in client.run_python(code).stdout
    assert not list(tmp_path.glob("pyexecd-*"))
