"""Directories with S_ISGID, which give their group to what is made in them: honest scripts copy them and share them."""

import os
import shutil

import pytest
from client import Server

CODE = """
import os, shutil, subprocess, tempfile
os.mkdir('made')
os.mkdir('plain', 0o755)
shutil.copytree('made', 'copied')
shutil.copystat('made', 'plain')
os.chmod('plain', 0o2700)
if shutil.which('git'):
    subprocess.run(['git', 'init', '-q', '--shared', 'repository'], check=True)
for bits in (0o4755, 0o6755):
    try:
        os.chmod('plain', bits)
    except PermissionError:
        print('refused')
without = tempfile.mkdtemp(dir='/tmp')
os.chmod(without, 0o2755)
print([oct(os.stat(name).st_mode & 0o7777) for name in ('made', 'copied', 'plain', without)])
"""


@pytest.mark.parametrize("isolation", ["none", "sandbox"])
def test_a_directory_that_has_it_keeps_it_and_others_do_not_get_it(tmp_path, isolation):
    """A filter cannot tell directories from files, so chmod(2) with S_ISGID answers 0 and changes nothing."""
    work = tmp_path / "work"
    work.mkdir()
    os.chmod(work, 0o2770)
    plain = tmp_path / "work/plain"
    config = {"environments": {"it": {"type": "system", "isolation": isolation}}, "working_directory": str(work)}
    with Server("--results", "structured", config=config) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": CODE})["structuredContent"]
    assert result["success"], result
    inherited = oct(0o2700)  # umask 077; the kernel has given it S_ISGID, as it has `plain`
    assert result["stdout"] == f"refused\nrefused\n{[*[inherited] * 3, oct(0o700)]}\n", result
    assert oct(plain.stat().st_mode & 0o7777) == inherited
    shutil.rmtree(work)
