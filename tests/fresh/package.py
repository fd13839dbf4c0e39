"""Installs, runs and removes a Debian package on a machine that has nothing but Debian and Python.

    package.py 12|13 PACKAGE.deb
"""

import pathlib
import sys
import tempfile

import host
import machine
import roots

INSTALL = """
apt-get -q update
DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends /srv/pyexecd.deb
pyexecd --version
XDG_STATE_HOME=/srv pyexecd run -c 'print(6 * 7)'
test -f /usr/lib/systemd/system/pyexecd.service -o -f /lib/systemd/system/pyexecd.service
test -f /usr/share/bash-completion/completions/pyexecd -a -f /usr/share/fish/vendor_completions.d/pyexecd.fish
test -f /usr/share/zsh/vendor-completions/_pyexecd
# Roots of debootstrap may keep no manual pages of packages.
dpkg -L pyexecd | grep -q /usr/share/man/man1/pyexecd-run.1.gz
for place in /etc/systemd/system /var/lib/systemd; do
    test ! -d $place || test -z "$(find $place -name '*pyexecd*')"
done
apt-get -q purge -y pyexecd
left=$(find / -xdev -name '*pyexecd*' -not -path '/srv/*' -not -path '/proc/*')
echo "left: $left"
test -z "$left"
echo all of it
"""


def main(release, package):
    suite = roots.RELEASES[release]
    with tempfile.TemporaryDirectory() as folder, \
            machine.Machine(roots.base(suite, roots.PYTHON), pathlib.Path(folder)) as computer:
        host.carry(suite, computer.root)
        (computer.root / "srv/pyexecd.deb").write_bytes(pathlib.Path(package).read_bytes())
        return computer.run(["sh", "-ec", INSTALL], "/srv", lambda text: print(text, end=""), host.environment())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
