"""The types of the package, as mypy sees them in a program that uses it."""

import pathlib
import re

import installed
import python_package

PROGRAM = '''
import asyncio
import pathlib
import sys
import threading
from typing import List

import pyexecd


def synchronous(folder: pathlib.Path, said: object) -> List[str]:
    cancel = threading.Event()
    with pyexecd.Client(config={"timeout": 60}, timeout=90.0) as client, client.session() as session:
        result = client.run_python("print(1)", files={"a": b"1", "b": folder / "b"}, on_progress=print,
                                   on_stdout=sys.stdout.write, on_stderr=lambda text: None, cancel=cancel).check()
        cell = session.run("1", files=[folder / "c"], on_stdout=print)
        blocks = client.run_code_blocks([("sh", "true"), {"language": "python", "code": "1"}], timeout=3)
        data: bytes = b"".join(client.read_file(file) for file in result.files)
        listed: List[pyexecd.File] = client.list_files(result.working_directory)
        called = client.call_tool("manage_sessions", {"action": "list"})
        values: List[str] = [each.stdout for each in client.map("def main(n): return n", [1], parallel=2, cancel=cancel)]
        values += [f"{index} {each.text}" for index, each in client.run_many(["1"], timeout=3).as_completed()]
        names = values + [tool["name"] for tool in client.list_tools()] + client.tools("openai") + client.answer(said)
        with session.fork() as copy:
            copy.restart()
        exit_code: int = blocks.exit_code
        return [result.stdout, cell.text, called.text, file_path(listed[0]), data.decode(), str(exit_code), *names]


def file_path(file: pyexecd.File) -> str:
    return file.path


async def asynchronous(said: object) -> List[str]:
    async with pyexecd.AsyncClient(url="http://127.0.0.1:1/mcp", token="t") as client, client.session() as session:
        first, second = await asyncio.gather(client.run_python("print(1)", on_stdout=print),
                                             session.run("1", on_stderr=sys.stderr.write))
        blocks = await client.run_code_blocks(message="", on_progress=print)
        data: bytes = await client.read_file(first.files[0].uri)
        listed: List[pyexecd.File] = await client.list_files()
        called = await client.call_tool("manage_sessions", on_progress=print)
        tools = [*await client.list_tools(), *await client.tools("gemini"), *await client.answer(said)]
        async with await session.fork() as copy:
            await copy.restart()
        shown = [block.result.text for block in blocks.blocks if block.result]
        shown += [each.stdout async for each in client.map("def main(n): return n", [1], parallel=2)]
        shown += [f"{index} {each.text}" async for index, each in client.run_many(["1"]).as_completed()]
        return [first.stdout, second.stdout, called.text, data.decode(), listed[0].path, *shown, *map(str, tools)]


def failed() -> str:
    try:
        return pyexecd.__version__
    except pyexecd.ToolError as error:
        return str(error)
'''

# Each line is wrong, and mypy has to say so.
WRONG = '''
import pyexecd

client = pyexecd.Client(timeout="long")
client.run_python(3)
client.run_python("1", on_stdout=lambda: None)
client.run_python("1").stdout + 1
client.session().run("1", on_progress=3)
client.map("def main(n): return n", 3)
pyexecd.AsyncClient().run_python("1").stdout
'''


def checked(folder, *arguments):
    """What `mypy --strict` says of ARGUMENTS, for the oldest Python that mypy knows."""
    python = installed.python("types")
    return installed.run(python, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", folder / "cache",
                         *arguments, home=folder, MYPYPATH=str(python_package.FOLDER))


def written(folder, text):
    file = pathlib.Path(folder) / "program.py"
    file.write_text(text)
    return file


def test_the_types_of_the_package_are_strict(tmp_path):
    modules = [f"pyexecd.{name}" for name in ("client", "async_client", "calls", "results", "errors", "listener",
                                              "many", "runs", "async_runs", "waiting")]
    done = checked(tmp_path, *(word for name in ["pyexecd", *modules] for word in ("-m", name)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_that_uses_both_clients_has_types(tmp_path):
    done = checked(tmp_path, written(tmp_path, PROGRAM))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_that_is_wrong_is_told_so(tmp_path):
    done = checked(tmp_path, written(tmp_path, WRONG))
    said = [int(number) for number in re.findall(r"^program\.py:(\d+): error", done.stdout, re.MULTILINE)]
    wrong = [number for number, line in enumerate(WRONG.splitlines(), 1) if "client" in line.lower()]
    assert sorted(set(said)) == wrong, done.stdout + done.stderr
