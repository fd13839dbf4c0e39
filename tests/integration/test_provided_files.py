"""The argument `files`: what a call puts into its working directory before its script runs."""

import base64
import contextlib
import json
import os

import pytest
from test_fallback import NAMESPACE, needs_namespaces

import client

READ = "import sys; sys.stdout.buffer.write(open({!r}, 'rb').read())"


@pytest.fixture(scope="module")
def server():
    with client.Server() as server:
        server.initialize()
        yield server


def run(server, code, files):
    result = server.call_tool("run_python", {"code": code, "files": files})
    assert not result["isError"], result["content"]
    return result["structuredContent"]


def refusal(server, *files, code="print('ran')"):
    result = server.call_tool("run_python", {"code": code, "files": list(files)})
    assert result["isError"]
    assert "ran" not in result["content"][0]["text"]
    return result["content"][0]["text"]


def test_a_script_reads_what_the_call_brought(server):
    blob = base64.encodebytes(bytes(range(256))).decode().replace("=", "")  # in lines, and not padded
    code = "print(open('data/a.csv').read(), list(open('b', 'rb').read()) == list(range(256)))"
    result = run(server, code, [{"path": "data/a.csv", "text": "Äpfel;1"},
                                {"path": "./b", "blob": blob}])
    assert result["stdout"] == "Äpfel;1 True\n"
    assert result["files"] == []


@pytest.mark.parametrize("form", [dict, json.dumps])
def test_files_may_be_a_mapping(server, form):
    files = form({"a": "1", "d/b": "2"})
    assert run(server, "print(open('a').read(), open('d/b').read())", files)["stdout"] == "1 2\n"
    answer = server.call_tool("run_python", {"code": "print('ran')", "files": {"a": 1}})
    assert answer["isError"] and "files.0.text must be string" in answer["content"][0]["text"]


def test_a_script_imports_what_the_call_brought(server):
    assert run(server, "import helper_one; print(helper_one.x)",
               [{"path": "helper_one.py", "text": "x = 7"}])["stdout"] == "7\n"


def test_what_the_script_changes_is_listed(server):
    result = run(server, "open('mine', 'a').write('more')",
                 [{"path": "mine", "text": ""}, {"path": "other", "text": ""}])
    assert [file["path"] for file in result["files"]] == ["mine"]


def test_they_stay_and_are_replaced(server):
    run(server, "", [{"path": "kept/f", "text": "1"}])
    assert run(server, "print(open('kept/f').read())", [])["stdout"] == "1\n"
    result = run(server, "print(open('kept/f').read())", [{"path": "kept/f", "text": "2"}])
    assert result["stdout"] == "2\n"


def test_a_script_may_write_to_and_remove_them(server):
    code = "import os; open('d/f', 'a').close(); open('d/g', 'w').close(); os.remove('d/f')"
    run(server, code, [{"path": "d/f", "text": "1"}])


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "..", ".", "/", "a/", "//a",
                                  "x" * 256, "a/" * 100 + "b", "a\0b"])
def test_a_path_that_is_none_is_refused(server, path):
    refusal(server, {"path": path, "text": ""})


def test_the_script_itself_is_refused(server):
    for path in ["script.py", "./script.py", ".//script.py"]:
        assert "is the program itself" in refusal(server, {"path": path, "text": "1"})


def test_unclear_contents_are_refused(server):
    assert "give either text or blob" in refusal(server, {"path": "a"})
    assert "give either text or blob" in refusal(server, {"path": "a", "text": "", "blob": ""})
    assert "is not base64" in refusal(server, {"path": "a", "blob": "what?"})
    assert "is there twice" in refusal(server, {"path": "a", "text": ""},
                                       {"path": "./a", "text": ""})
    assert "files" in refusal(server, *[{"path": f"{i}", "text": ""} for i in range(101)])
    assert "mode" in refusal(server, {"path": "a", "text": "", "mode": 7})


@pytest.mark.parametrize("trap", ["os.symlink({outside!r}, 'trap')",
                                  pytest.param("os.mkfifo('trap')", marks=pytest.mark.shared),  # a pipe stays there
                                  "open('trap', 'w').close()"])
def test_nothing_is_put_behind_a_trap(server, tmp_path, trap):
    """A script has left a link, a FIFO or a file where a directory is wanted."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    run(server, "import os\n" + trap.format(outside=str(outside)), [])
    try:
        assert "trap/f" in refusal(server, {"path": "trap/f", "text": "1"})
        assert list(outside.iterdir()) == []
    finally:
        run(server, "import os; os.remove('trap')", [])


def test_a_link_in_its_place_is_replaced(server, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    outside.chmod(0o666)
    run(server, f"import os; os.symlink({str(outside)!r}, 'swap')", [])
    assert run(server, READ.format("swap"), [{"path": "swap", "text": "new"}])["stdout"] == "new"
    assert outside.read_text() == "untouched"


def test_a_directory_in_its_place_is_told(server):
    run(server, "import os; os.makedirs('folder/in')", [])
    assert "folder" in refusal(server, {"path": "folder", "text": "1"})


def test_the_disk_limit_counts_them():
    with client.Server(config={"limits": {"disk": "1MiB"}}) as server:
        server.initialize()
        assert "larger than the 1 MiB" in refusal(server, {"path": "a", "text": "x" * 1100000})
        run(server, "", [{"path": "a", "text": "x" * 1000000}])


def test_a_list_of_changed_files_that_is_not_complete_says_so(server):
    server = server.call_tool
    code = "import os\nos.mkdir('many')\nfor i in range(10100): open(f'many/{i}', 'w').close()"
    result = server("run_python", {"code": code})
    assert result["structuredContent"]["files_complete"] is False
    assert "More files may have changed" in result["content"][0]["text"]
    result = server("run_python", {"code": "import shutil; shutil.rmtree('many')"})
    assert result["structuredContent"]["files_complete"] is True
    assert "More files" not in result["content"][0]["text"]


@pytest.mark.shared  # a node removes its copy, and the disk has room again
@needs_namespaces
def test_that_the_disk_is_full_is_told(tmp_path):
    """tmpfs counts directories by their number only."""
    mount = 'mount -t tmpfs -o nr_inodes=150 none "$XDG_STATE_HOME" && exec "$0"'
    fill = "try:\n    for i in range(200): open(f'{i}', 'w').close()\nexcept OSError as error: print(error)"
    with client.Server(transport="unix", command=[*NAMESPACE, "--mount", "sh", "-c", mount, os.environ["PYEXECD"]],
                       environment={"XDG_STATE_HOME": str(tmp_path)}) as server:
        server.initialize()
        assert "No space left" in run(server, fill, [{"path": "folder/f", "text": ""}])["stdout"]
        assert "No space left on device" in refusal(server, {"path": "other/f", "text": ""})
        with contextlib.closing(server.connect()) as another:
            another.initialize()
            assert "No space left on device" in refusal(another)
