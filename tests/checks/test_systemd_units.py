"""The systemd units: understood by systemd, and as hardened as they are promised to be."""

import re
import shutil
import subprocess

import pytest
import tree

EXPOSURE = 30  # tenths, of at most 100


SOCKETS = ["pyexecd.socket", "pyexecd-http.socket", "pyexecd-https.socket"]


@pytest.fixture
def unit(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze")
    path = tmp_path / "pyexecd.service"
    path.write_text(tree.text("systemd/pyexecd.service.in").replace("@bindir@/pyexecd", "/bin/true"))
    for name in SOCKETS:
        (tmp_path / name).write_text(tree.text(f"systemd/{name}"))
    return path


def test_systemd_understands_them(unit):
    understood = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit,
         *(unit.with_name(name) for name in SOCKETS)], capture_output=True, text=True)
    assert (understood.returncode, understood.stderr) == (0, "")


def test_exposure_is_low(unit):
    analysed = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE}", unit],
        capture_output=True, text=True,
    )
    assert analysed.returncode == 0, analysed.stdout + analysed.stderr
    assert analysed.stderr == ""  # an unknown directive or system call


def test_keeps_what_runs_need():
    """Options that look good in a score and take away namespaces, /proc or cgroups from runs."""
    text = tree.text("systemd/pyexecd.service.in")
    for option in ("ProtectKernelTunables", "ProtectKernelLogs", "ProtectHostname",
                   "ProtectControlGroups", "ProtectProc", "ProcSubset", "PrivateUsers"):
        assert not re.search(rf"^{option}=", text, re.MULTILINE)
