"""Installs, runs and removes a Debian package on a machine that has nothing but Debian and Python.

    package.py PACKAGE.deb

Exit status 77: there is no such machine for this package; the reason is printed.
"""

import pathlib
import sys
import tempfile

import host
import machine

import base_image  # found by machine.py
import debian

NO_MACHINE = 77
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


def main(package):
    if debian.release() != base_image.SUITE:
        print(f"the machine has {base_image.SUITE}, the package is for {debian.release()}")
        return NO_MACHINE
    with tempfile.TemporaryDirectory() as folder, \
            machine.Machine(base_image.base_image(), pathlib.Path(folder)) as computer:
        host.carry(base_image.SUITE, computer.root)
        (computer.root / "tmp").chmod(0o1777)
        (computer.root / "srv/pyexecd.deb").write_bytes(pathlib.Path(package).read_bytes())
        return computer.run(["sh", "-ec", INSTALL], "/srv", lambda text: print(text, end=""), host.environment())


sys.exit(main(sys.argv[1]))
