"""What a script can write before the limit of its working directory stops it, however it writes."""

import os
import pathlib

import pytest

import box

MIB = 1 << 20
LIMIT = 64
# Nearly: who looks gets a turn even on a machine with nothing left.
FULL_SPEED = """
import os, time
block = bytes(1 << 20)
def fill(path, count):
    with open(path, 'wb', buffering=0) as file:
        for _ in range(count):
            file.write(block)
            time.sleep(0.002)
"""
# What each does that a simple look through the directory would miss.
WRITERS = {
    "at once": "for i in range(64): fill(f'{i}', 16)",
    "in great depth": "for i in range(100): os.mkdir('d'); os.chdir('d')\n"
                      "for i in range(64): fill(f'{i}', 16)",
    "behind links outside": """
import tempfile
with tempfile.TemporaryDirectory(dir='..') as other:
    for i in range(64):
        fill(f'{i}', 16)
        for j in range(15): os.link(f'{i}', f'{other}/{i}-{j}')
""",
    "in files without a name": """
files = [open(f'{i}', 'wb', buffering=0) for i in range(64)]
for i, file in enumerate(files):
    os.unlink(f'{i}')
    for _ in range(16): file.write(block); time.sleep(0.002)
""",
    "in files of other processes": """
for i in range(8):
    if os.fork() == 0:
        with open(f'{i}', 'wb', buffering=0) as file:
            os.unlink(f'{i}')
            for _ in range(16): file.write(block); time.sleep(0.002)
            time.sleep(20)
""",
    "where nobody may look": """
for folder in ('a', 'b', 'a/inner'):
    os.mkdir(folder)
for i in range(32): fill(f'a/inner/{i}', 1); fill(f'b/{i}', 1)
for folder in ('a/inner', 'a', 'b', '.'):
    os.chmod(folder, 0)
""",
    "many small files": "for i in range(20000): open(f'{i}', 'w').close()",
    "a little at a time": "import time\nfor i in range(64): fill(f'{i}', 4); time.sleep(0.02)",
}


@pytest.fixture
def server():
    with box.Box({"type": "system", "isolation": "none"}, config={"limits": {"disk": f"{LIMIT}MiB"}}) as server:
        server.initialize()
        yield server


def held(folder):
    """Bytes on the disk below FOLDER."""
    return sum(os.lstat(os.path.join(parent, name)).st_blocks * 512
               for parent, _, names in os.walk(folder) for name in names)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_script_is_stopped_soon_after_the_limit(server, writer):
    result = server.run(FULL_SPEED + WRITERS[writer] + "\nimport time; time.sleep(20)")
    assert "grew beyond the limit" in (result["error"] or ""), result
    assert result["signal"] == "SIGKILL"
    assert held(pathlib.Path(result["script"]).parent) < 768 * MIB  # of 1 GiB that it would write


def test_a_script_that_ends_before_it_is_stopped_has_failed(server):
    result = server.run(FULL_SPEED + "for i in range(5): fill(f'{i}', 16)\nos._exit(0)")
    assert not result["success"] and "grew beyond the limit" in (result["error"] or ""), result


def test_what_others_write_is_not_held_against_a_directory_that_nobody_may_read(server):
    code = """
import os, time
os.mkdir('locked')
for folder in ('locked', '.'):
    os.chmod(folder, 0)
print('locked', flush=True)
time.sleep(1)
"""
    run = server.start(code)
    written = pathlib.Path(server.home) / "of somebody else"
    written.write_bytes(bytes(4 * LIMIT * MIB))
    result = server.wait(run)["result"]["structuredContent"]
    assert result["success"], result


def test_what_was_there_before_does_not_count(server):
    first = server.run(FULL_SPEED + "for i in range(3): fill(f'{i}', 16)")
    assert first["success"], first
    again = {"working_directory": first["working_directory"]}
    second = server.run(FULL_SPEED + "for i in range(3): fill(f'{i + 3}', 16)", arguments=again)
    assert second["success"], second
    third = server.run(FULL_SPEED + "for i in range(3):\n    os.rename(f'{i}', f'moved-{i}')\n"
                       "    fill(f'moved-{i}', 16)", arguments=again)
    assert third["success"], third
    assert held(pathlib.Path(first["script"]).parent) >= 96 * MIB


def test_a_directory_of_very_many_files_is_watched_all_the_same(server):
    first = server.run("for i in range(12000): open(f'{i}', 'w').close()", arguments={"timeout": 60})
    assert first["success"], first
    again = {"working_directory": first["working_directory"]}
    second = server.run("open('one more', 'w').write('x')", arguments=again)
    assert second["success"], second
    third = server.run(FULL_SPEED + "fill('much', 16)\nimport time; time.sleep(1)\n"
                       "for i in range(5): fill(f'more-{i}', 16)\ntime.sleep(20)", arguments=again)
    assert "grew beyond the limit" in (third["error"] or ""), third
