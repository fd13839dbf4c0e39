"""What the compiler and the linker have done against holes in the programs, read from the built files."""

import os
import pathlib
import platform
import re
import subprocess

import leftovers
import pytest

BUILD = pathlib.Path(os.environ["PYEXECD"]).resolve().parent
PROGRAMS = ["pyexecd", "pyexecd-runner", "pyexecd-init", "pyexecd-picture"]
ENDBR64 = b"\xf3\x0f\x1e\xfa"


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options], capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


@pytest.fixture(params=PROGRAMS)
def program(request):
    path = BUILD / request.param
    if not path.exists():
        pytest.skip(f"{request.param} is not beside the program under test")
    return path


def test_lies_at_another_address_each_time(program):
    assert re.search(r"Type: +DYN", readelf("-h", program))


def test_what_the_linker_has_filled_in_cannot_be_changed(program):
    assert "GNU_RELRO" in readelf("-l", program)
    dynamic = readelf("-d", program)
    assert "NEEDED" not in dynamic or re.search(r"BIND_NOW|Flags:.*NOW", dynamic), dynamic


def test_no_memory_can_be_written_and_executed(program):
    stack = re.search(r"GNU_STACK.*", readelf("-l", program)).group()
    assert "RWE" not in stack and " E " not in stack
    assert not re.search(r"LOAD.* RWE ", readelf("-l", program))


def test_an_overflow_of_the_stack_is_noticed(program):
    assert "__stack_chk_fail" in readelf("-s", program)


def test_calls_that_write_beyond_their_buffer_are_noticed(program):
    """Those of libc whose size the compiler knows, or can compute (_FORTIFY_SOURCE)."""
    if leftovers.sanitized() and program.name != "pyexecd-picture":
        pytest.skip("the sanitizer does that")
    assert re.search(r"__(v?snprintf|memcpy|read|v?fprintf)_chk", readelf("-s", program))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="CET is x86-64's")
def test_jumps_land_where_functions_begin(program):
    assert program.read_bytes().count(ENDBR64) > 50
