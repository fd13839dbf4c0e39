"""Programs in /usr whose settings are links into /etc find them in a sandbox, and nobody's passwords beside them."""

import json
import os
import subprocess

import pytest

from leftovers import Watched

SETTINGS = {  # what a script reads of each
    "java-17-openjdk/security/java.security": "settings",
    "java-17-openjdk/management/jmxremote.password": "Permission denied",  # its mode is that of a secret
    "R/ldpaths": "settings",
    "R/Renviron.site": "No such file or directory",
    "ImageMagick-6/policy.xml": "settings",
    "maven/m2.conf": "settings",
    "maven/settings.xml": "No such file or directory",
    "shadow": "No such file or directory",
}
LOOK = f"""
import json
def read(name):
    try:
        return open("/etc/" + name).read()
    except OSError as error:
        return error.strerror
def write(name):
    try:
        return open("/etc/" + name, "w").name
    except OSError as error:
        return error.strerror
print(json.dumps([{{name: read(name) for name in {list(SETTINGS)}}}, write("R/ldpaths")]))
"""
MOUNT = 'mount --bind "$0" /etc && exec "$@"'

CACHES = """
mount -t tmpfs none /var/cache && mkdir /var/cache/fontconfig /var/cache/debconf &&
echo fonts >/var/cache/fontconfig/le64.cache-8 && exec "$@"
"""
LOOK_AT_CACHES = """
import os
print(os.listdir("/var/cache"), open("/var/cache/fontconfig/le64.cache-8").read().strip())
try:
    os.mkdir("/var/cache/fontconfig/own")
except OSError as error:
    print(error.strerror)
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0,
    reason="only root can have another /etc")


@pytest.fixture
def etc(tmp_path):
    """The machine's /etc with settings of programs that it may lack."""
    etc = tmp_path / "etc"
    subprocess.run(["cp", "-a", "/etc", etc], check=True)
    for name in SETTINGS:
        if name != "shadow":
            (etc / name).parent.mkdir(parents=True, exist_ok=True)
            (etc / name).write_text("settings")
    (etc / "java-17-openjdk/management/jmxremote.password").chmod(0o600)
    return etc


def test_programs_find_their_settings_and_no_passwords(etc):
    command = ["unshare", "--mount", "sh", "-c", MOUNT, str(etc), os.environ["PYEXECD"]]
    with Watched(command=command, config={"environments": {"it": {"type": "system", "isolation": "sandbox"}}}) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": LOOK})["structuredContent"]
        assert result["success"], result["stderr"]
        seen, written = json.loads(result["stdout"])
        if result["containment"]["layers"]["own root directory"] != "enforced":
            pytest.skip("no root of its own here")
        assert seen == SETTINGS
        assert written == "Read-only file system"


def test_fonts_are_found_by_the_cache_of_the_machine():
    """Without it each run would read all of them anew."""
    command = ["unshare", "--mount", "sh", "-c", CACHES, "sh", os.environ["PYEXECD"]]
    with Watched(command=command, config={"environments": {"it": {"type": "system", "isolation": "sandbox"}}}) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": LOOK_AT_CACHES})["structuredContent"]
        if result["containment"]["layers"]["own root directory"] != "enforced":
            pytest.skip("no root of its own here")
        assert result["stdout"] == "['fontconfig'] fonts\nRead-only file system\n", result
