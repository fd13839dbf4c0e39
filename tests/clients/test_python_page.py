"""The programs in docs/python.md do what the page says."""

import os
import re

import installed
import python_package

PAGE = (installed.ROOT / "docs" / "python.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)


def test_the_programs_of_the_page_run_one_after_the_other(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pyexecd").symlink_to(installed.PYEXECD)
    done = python_package.program(tmp_path, "\n".join(PROGRAMS), PATH=f"{folder}:{os.environ['PATH']}")
    assert done.returncode == 0, done
    for line in ["Code output: 42", "sum.txt b'6'", "6", "42", "3 1", "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]",
                 "0 success", "1 failure", r"['0\n', '1\n', '4\n', '9\n']"]:
        assert line in done.stdout.splitlines(), done
