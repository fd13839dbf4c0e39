"""The npm packages of `./dev release`, packed by npm and run by npx."""

import json
import os
import signal
import subprocess
import tarfile

import installed
import pytest

pytestmark = pytest.mark.heavy

FIRST_RESULT = installed.ROOT / "tests/fresh/first_result.py"


def npm(*arguments, home):
    done = installed.run("npm", *arguments, home=home, npm_config_offline="true", npm_config_update_notifier="false")
    assert done.returncode == 0, done
    return done.stdout


def packages(release):
    return sorted(release.glob("*.tgz"))


@pytest.fixture(scope="module")
def project(release, tmp_path_factory):
    """A folder that both packages are installed in."""
    if not (installed.DEPS / "node" / "installed").exists():
        pytest.skip("no Node: ./dev deps installs it")
    folder = tmp_path_factory.mktemp("project")
    npm("install", "--no-audit", "--no-fund", *packages(release), home=folder)
    return folder


def test_npm_packs_the_same_files(release, project, tmp_path):
    for package in packages(release):
        with tarfile.open(package) as archive:
            archive.extractall(tmp_path / package.stem)
            names = {name.removeprefix("package/") for name in archive.getnames()}
        (packed,) = json.loads(npm("pack", "--json", tmp_path / package.stem / "package", home=tmp_path))
        assert {file["path"] for file in packed["files"]} == names and packed["filename"] == package.name


def test_npx_runs_a_script(project):
    done = installed.run("npx", "--offline", "pyexecd", "run", "-c", "print(6 * 7); raise SystemExit(3)", home=project)
    assert (done.stdout, done.returncode) == ("42\n", 3), done


def test_a_client_starts_it_by_npx(project):
    path = f"{installed.DEPS / 'node' / 'bin'}:{os.environ['PATH']}"
    done = installed.run(installed.python("mcp"), FIRST_RESULT, "/usr/bin/env", f"PATH={path}", "npx", "--offline", "pyexecd",
                         home=project)
    assert done.returncode == 0 and "42" in json.loads(done.stdout)["text"], done


def test_a_signal_reaches_the_program(project):
    # The `node` of a Python environment starts the real one, and keeps signals to itself.
    node = installed.run("node", "-p", "process.execPath", home=project).stdout.strip()
    command = [node, "node_modules/pyexecd/pyexecd.js", "run", "-c", "print('begun', flush=True)\nwhile True: pass"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=project,
                          env={"PATH": os.environ["PATH"], "HOME": str(project)}) as started:
        assert started.stdout.readline() == "begun\n"
        started.send_signal(signal.SIGTERM)
        assert started.stdout.read() == ""  # The end of the last process that could write.
        assert started.wait() == 128 + signal.SIGTERM


def test_a_missing_program_is_named(release, tmp_path):
    (launcher,) = [package for package in packages(release) if "linux" not in package.name]
    with tarfile.open(launcher) as archive:
        archive.extractall(tmp_path)
    done = installed.run("node", tmp_path / "package/pyexecd.js", home=tmp_path)
    assert done.returncode == 1 and "pyexecd-linux-" in done.stderr, done
