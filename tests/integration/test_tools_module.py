"""The module `tools`, against a small server, on each Python that this machine has."""

import pathlib
import subprocess
import sys
import textwrap

import newest
import pytest
import tools_peer



def is_python(path):
    known = subprocess.run([path, "-c", "import sys, ctypes; print(sys.version_info >= (3, 8))"], capture_output=True, text=True)
    return known.stdout.strip() == "True"


def all_pythons():
    installed = (pathlib.Path.home() / ".pyenv/versions").glob("3.*/bin/python3")
    return [sys.executable, *filter(is_python, sorted(map(str, installed))), *newest.newest().values()]


PYTHONS = all_pythons()
pytestmark = pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.strip("/").replace("/", "."))


def printed(script, python, **more):
    output, errors, status, server = tools_peer.run(textwrap.dedent(script), python, **more)
    assert status == 0, errors
    assert not errors
    return output, server


def failed(script, python):
    output, errors, status, server = tools_peer.run(textwrap.dedent(script), python)
    assert status == 1, (output, errors)
    return errors, server


def test_a_tool_is_a_function_of_its_server(python):
    output, server = printed("""
        from tools import github
        print(github.search_issues(query="crash", per_page=50))
        print(github.search_issues("crash", order="asc"))
        print(github.get_issue(number=7)["title"])
        """, python)
    assert output.splitlines() == ["[{'query': 'crash', 'per_page': 50}]", "[{'query': 'crash', 'order': 'asc'}]", "a bug"]
    assert [call["name"] for call in server.calls()] == ["github.search_issues"] * 2 + ["github.get-issue"]


def test_odd_names_are_items(python):
    output, _ = printed("""
        import tools
        print(tools["odd-server"]["a b/c"](), tools.odd_server.a_b_c(), tools.call("odd-server.a b/c"))
        print(sorted(tools), len(tools.github), "github" in dir(tools), "get_issue" in dir(tools.github))
        """, python)
    assert output.splitlines() == ["odd odd odd", "['github', 'odd-server', 'test'] 2 True True"]


@pytest.mark.parametrize(("name", "value"), [
    ("text", "'some text'"), ("json", "{'a': [1, 2]}"), ("number", "'1.10'"), ("nothing", "None"),
    ("two", "['one', <image/png, 256 bytes>]"), ("link", "{'type': 'resource_link', 'uri': 'x:y', 'name': 'n'}")])
def test_results_are_values(python, name, value):
    output, _ = printed(f"from tools import test; print(repr(test.{name}()))", python)
    assert output.strip() == value


@pytest.mark.parametrize(("name", "file"), [("picture", "picture-1.png"), ("sound", "sound-1.wav"), ("blob", "file-1.bin")])
def test_media_are_saved_byte_for_byte(python, name, file, tmp_path):
    printed(f"""
        from tools import test
        test.{name}().save("mine")
        print(test.{name}().save(), test.{name}().save())
        """, python, directory=tmp_path)
    saved = [path for path in tmp_path.iterdir() if path.name.startswith(file.partition("-")[0])]
    assert (tmp_path / "mine").read_bytes() == tools_peer.PICTURE
    assert len(saved) == 2 and all(path.read_bytes() == tools_peer.PICTURE for path in saved)


@pytest.mark.parametrize(("name", "kind"), [("denied", "Denied"), ("timeout", "Timeout"), ("unavailable", "Unavailable"),
                                            ("limit", "LimitReached"), ("fails", "ToolError"), ("refused", "ToolError")])
def test_each_failure_has_its_error(python, name, kind):
    output, _ = printed(f"""
        import tools
        try:
            tools.test.{name}()
        except tools.ToolError as error:
            print(type(error).__name__, error.tool, error)
        """, python)
    assert output.startswith(f"{kind} test.{name} test.{name}: ")


@pytest.mark.parametrize(("call", "message"), [
    ("github.search_issues(qeury='x')", "has no argument 'qeury'; did you mean 'query'?"),
    ("github.search_issues()", "lacks 'query'"),
    ("github.search_issues(query=3)", "takes str as 'query', not int"),
    ("github.search_issues('a', per_page=1.5)", "takes int as 'per_page', not float"),
    ("github.search_issues('a', order='dsc')", "takes 'asc' | 'desc' as 'order', not 'dsc'; did you mean 'desc'?"),
    ("github.search_issues('a', 1, 'asc', 4)", "takes 3 arguments, not 4"),
    ("github.search_issues('a', query='b')", "got 'query' twice"),
    ("tools.call('github.search_issues', {'query': True})", "takes str as 'query', not bool")])
def test_wrong_arguments_are_not_sent(python, call, message):
    errors, server = failed(f"import tools\nfrom tools import github\n{call}\n", python)
    signature = "github.search_issues(query: str, per_page: int = 30, order: 'asc' | 'desc' = None)"
    assert errors.splitlines()[-2:] == [f"TypeError: github.search_issues {message}", f"  {signature}"]
    assert not server.calls()


@pytest.mark.parametrize(("script", "message"), [
    ("tools.github.serch_issues()", "AttributeError: server 'github' has no tool 'serch_issues'; did you mean 'search_issues'?"),
    ("tools.gihub", "AttributeError: there is no server 'gihub'; did you mean 'github'?"),
    ("tools.call('github.get-isue')", "LookupError: there is no tool 'github.get-isue'; did you mean 'github.get-issue'?")])
def test_a_wrong_name_is_told_the_nearest(python, script, message):
    errors, _ = failed(f"import tools\n{script}\n", python)
    assert message in errors


def test_a_traceback_ends_in_the_script(python):
    for call in ("fails()", "fails(1)", "missing", "secret.aio(1)"):
        ending = ".send(None)" if "aio" in call else ""
        errors, _ = failed(f"from tools import test\ndef f():\n    test.{call}{ending}\nf()\n", python)
        assert "tools.py" not in errors, errors
        assert "in f" in errors


def test_eight_calls_at_once_share_the_socket(python):
    output, server = printed("""
        import threading, tools
        print(tools.map(lambda n: tools.test.echo(n=n)["n"], range(40)) == list(range(40)))
        threads = [threading.Thread(target=tools.test.slow) for _ in range(16)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        """, python)
    assert output == "True\n"
    assert 1 < server.most_at_once <= 8


def test_map_raises_the_first_error(python):
    errors, _ = failed("import tools\ntools.map(tools.test.fails, [{}, {}])\n", python)
    assert errors.splitlines()[-1].endswith("ToolError: test.fails: no such issue")


def test_a_timeout_cancels_the_call(python):
    output, server = printed("""
        import tools
        try:
            tools.call("test.hang", {}, timeout=0.2)
        except tools.Timeout as error:
            print(error)
        print(tools.test.text())
        """, python)
    assert output.splitlines() == ["test.hang: there was no answer in time", "some text"]
    assert len(server.cancelled) == 1


def test_coroutines(python):
    output, server = printed("""
        import asyncio, tools
        async def main():
            print(await asyncio.gather(*(tools.test.echo.aio(n=n) for n in range(3))))
            task = asyncio.ensure_future(tools.test.hang.aio())
            await tools.test.wait_for.aio("hang")
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                print(await tools.test.wait_for.aio("cancelled"))
            try:
                await tools.test.denied.aio()
            except tools.Denied:
                print("denied")
        asyncio.run(main())
        """, python)
    assert output.splitlines() == ["[{'n': 0}, {'n': 1}, {'n': 2}]", "cancelled", "denied"]
    assert len(server.cancelled) == 1


def test_forks_take_turns(python):
    """While another thread of the parent waits for an answer, too."""
    output, server = printed("""
        import os, threading, tools
        tools.test.text()
        waiting = [threading.Thread(target=tools.test.slow) for _ in range(4)]
        for each in waiting:
            each.start()
        children = []
        for child in range(4):
            pid = os.fork()
            if pid == 0:
                right = all(tools.test.echo(child=child, n=n) == {"child": child, "n": n} for n in range(20))
                os._exit(0 if right else 1)
            children.append(pid)
        right = all(tools.test.echo(n=n) == {"n": n} for n in range(20))
        print(right, [os.waitpid(pid, 0)[1] for pid in children])
        """, python)
    assert output == "True [0, 0, 0, 0]\n"
    assert len(server.calls()) == 1 + 4 + 100


def test_a_killed_fork_leaves_the_socket_usable(python):
    output, _ = printed("""
        import os, signal, time, tools
        tools.test.text()
        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                os.write(tools._descriptor, b'{"jsonrpc": "2.0", "id": "half')
                time.sleep(60)
            time.sleep(0.2)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            print(tools.test.echo(a=1))
        """, python)
    assert output == "{'a': 1}\n" * 3


def test_multiprocessing(python):
    output, _ = printed("""
        import multiprocessing, tools
        def f(n):
            return tools.test.echo(n=n)["n"]
        with multiprocessing.get_context("fork").Pool(3) as pool:
            print(pool.map(f, range(12)) == list(range(12)))
        """, python)
    assert output == "True\n"


def test_a_closed_socket_is_told(python):
    output, _ = printed("""
        import os, tools
        tools.test.text()
        os.close(tools._descriptor)
        for _ in range(2):
            try:
                tools.test.text()
            except tools.Unavailable as error:
                print(error)
        """, python)
    assert output == "test.text: there is no way to the tools any more: Bad file descriptor\n" * 2


def test_search_and_help(python):
    output, _ = printed("""
        import tools
        print(tools.search("issues"))
        tools.help("github")
        tools.help(tools.github.search_issues)
        print(tools.github.search_issues.__doc__)
        import inspect
        print(inspect.signature(tools.github.get_issue))
        """, python)
    assert output.startswith("github.search_issues(query: str,")
    assert "    query: what to look for" in output
    assert "github.get-issue(number: int = None) -> dict" in output


def test_a_value_that_json_has_not(python):
    output, _ = printed("""
        import datetime, pathlib, tools
        print(tools.test.echo(day=datetime.date(2026, 1, 2), place=pathlib.Path("/a"), some={2, 1}))
        for value in (float("nan"), object()):
            try:
                tools.test.echo(value=value)
            except (TypeError, ValueError) as error:
                print(type(error).__name__)
        """, python)
    assert output.splitlines() == ["{'day': '2026-01-02', 'place': '/a', 'some': [1, 2]}", "ValueError", "TypeError"]


def test_an_interrupt_ends_the_wait(python):
    output, server = printed("""
        import os, signal, threading, tools
        def interrupt():
            tools.test.wait_for("hang")
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            tools.test.hang()
        except KeyboardInterrupt:
            print("interrupted")
        print(tools.test.json())
        """, python)
    assert output.splitlines() == ["interrupted", "{'a': [1, 2]}"]
    assert len(server.cancelled) == 1


def test_an_interrupt_at_the_moment_of_sending_cancels_as_well(python):
    output, server = printed("""
        import os, tools
        tools.test.json()
        write = os.write
        def write_and_be_interrupted(descriptor, data):
            os.write = write
            write(descriptor, data)
            raise KeyboardInterrupt
        os.write = write_and_be_interrupted
        try:
            tools.test.hang()
        except KeyboardInterrupt:
            print("interrupted")
        print(tools.test.json())
        """, python)
    assert output.splitlines() == ["interrupted", "{'a': [1, 2]}"]
    assert len(server.cancelled) == 1
