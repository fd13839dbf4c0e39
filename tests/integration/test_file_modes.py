"""What scripts make of the modes of their files: no program that others run with another one's rights."""

import client
import pytest

CODE = """
import os, shutil, stat

def mode(path):
    return oct(stat.S_IMODE(os.stat(path).st_mode))

os.mkdir("tree")
open("tree/leaf", "w").close()
shutil.copytree("tree", "copy")
os.chmod("copy/leaf", 0o751)
print(mode("tree"), mode("copy"), mode("copy/leaf"))
for bits in (0o4755, 0o6755):
    try:
        os.chmod("copy/leaf", bits)
    except PermissionError:
        print("refused", mode("copy/leaf"))
"""


@pytest.mark.plain
@pytest.mark.parametrize("isolation", ["none", "sandbox"])
def test_a_tree_in_a_setgid_folder_is_copied_and_nothing_becomes_setuid(tmp_path, isolation):
    work = tmp_path / "work"
    work.mkdir()
    work.chmod(0o2770)
    config = {"environments": {"system": {"type": "system", "isolation": isolation}}, "working_directory": str(work)}
    with client.Server(config=config) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": CODE})["structuredContent"]
    assert result["stdout"] == "0o2700 0o2700 0o751\nrefused 0o751\nrefused 0o751\n", result
