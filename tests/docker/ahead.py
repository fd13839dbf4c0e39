"""What is checked of every run that was started ahead, wherever it waits."""

import os
import pathlib

import pytest

ENDS = [
    ("print('out'); raise SystemExit(7)", 7, ""),
    ("import os; print('out', flush=True); os.kill(os.getpid(), 9)", -9, ""),
    ("print('out'); 1/0", 1, "ZeroDivisionError"),
    ("print('out'); print('\\6')", 0, ""),
    ("print('out'); import subprocess; subprocess.Popen(['sleep', '1000'])", 0, ""),
]
LONG = ("print('out'); print('x' * 200000)", 0, "")


def each_end(*ends):
    """For a test of scripts, what they return, and what is on their stderr: ENDS and some that end otherwise."""
    return pytest.mark.parametrize("code, returncode, stderr", [*ENDS, *ends])


def check_as_cold(result, returncode, stderr):
    """RESULT is that of a script that did not wait for its start, but for its timing."""
    assert result["timings"]["warm"] and result["returncode"] == returncode, result
    assert result["stdout"].startswith("out\n") and stderr in result["stderr"], result
    assert result["usage"]["cpu_seconds"] > 0 and result["usage"]["peak_memory_bytes"] > 1 << 20, result


def put_over(script, text):
    """Another file in the place of SCRIPT."""
    other = pathlib.Path(script).with_name("other.py")
    other.write_text(text)
    os.rename(other, script)
