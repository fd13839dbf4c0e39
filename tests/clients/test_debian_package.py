"""The Debian package that `./dev deb` makes: installed, run and removed on a machine that has nothing
but Debian and Python."""

import os
import sys

import installed
import pytest

sys.path.insert(0, str(installed.ROOT / "tests/fresh"))

import host  # noqa: E402
import machine  # noqa: E402

import base_image  # found by machine.py
import debian

pytestmark = pytest.mark.serial  # to build fills the machine

INSTALL = """
apt-get -q update
DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends /srv/pyexecd.deb
pyexecd --version
XDG_STATE_HOME=/srv pyexecd run -c 'print(6 * 7)'
test -f /usr/lib/systemd/system/pyexecd.service -o -f /lib/systemd/system/pyexecd.service
for place in /etc/systemd/system /var/lib/systemd; do
    test ! -d $place || test -z "$(find $place -name '*pyexecd*')"
done
apt-get -q purge -y pyexecd
left=$(find / -xdev -name '*pyexecd*' -not -path '/srv/*' -not -path '/proc/*')
echo "left: $left"
test -z "$left"
echo all of it
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine")
def test_it_is_installed_runs_and_is_removed(deb, tmp_path):
    if debian.release() != base_image.SUITE:
        pytest.skip(f"the machine has {base_image.SUITE}, the package is for {debian.release()}")
    lines = []
    with machine.Machine(base_image.base_image(), tmp_path) as computer:
        host.carry(base_image.SUITE, computer.root)
        (computer.root / "tmp").chmod(0o1777)
        (computer.root / "srv/pyexecd.deb").write_bytes(deb.read_bytes())
        status = computer.run(["sh", "-ec", INSTALL], "/srv", lines.append, host.environment())
    printed = "".join(lines)
    assert status == 0, printed
    assert "\n42\n" in printed and printed.endswith("all of it\n"), printed
