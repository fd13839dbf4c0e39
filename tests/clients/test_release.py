"""What `./dev release` makes: whole, described, and equal when it is made again."""

import hashlib
import json
import re
import subprocess
import tarfile
import zipfile

import installed
import pytest

pytestmark = pytest.mark.serial  # to build fills the machine


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_checksums_are_of_all_files(release):
    done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=release,
                          capture_output=True, text=True)
    assert done.returncode == 0, done
    named = {line.split(": ")[0] for line in done.stdout.splitlines()}
    assert named == {path.name for path in release.iterdir()} - {"SHA256SUMS"}
    parts = {re.sub(r"^pyexecd-\d+\.\d+\.\d+", "", name) for name in named}
    assert {part for part in parts if not part.startswith("-py3-none-")} == {
        "-source.tar.gz", ".cdx.json", ".tar.gz"}
    assert len(parts) == 4


def test_a_second_build_is_equal(release, wheel):
    """The wheel and the sdist of ./dev wheel were made from the same commit."""
    for path in wheel.parent.iterdir():
        assert digest(path) == digest(release / path.name), path.name


def test_the_bill_names_the_wheel_and_what_is_linked_into_it(release):
    (path,) = release.glob("*.cdx.json")
    (wheel,) = release.glob("*.whl")
    bill = json.loads(path.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert bill["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": digest(wheel)}]
    libraries = {each["name"]: each for each in bill["components"]}
    assert {"glibc", "jansson", "libev", "openssl", "libseccomp", "pcre2"} <= set(libraries)
    with zipfile.ZipFile(wheel) as archive:
        texts = {name.partition("/purelib/")[2] for name in archive.namelist()
                 if "/pyexecd/licenses/" in name and name.endswith(".txt")}
    assert texts == {entry["value"] for each in bill["components"] for entry in each["properties"]}
    for each in libraries.values():
        assert each["version"] and each["purl"].startswith("pkg:deb/debian/")


def test_the_source_is_what_is_committed(release):
    (path,) = release.glob("*-source.tar.gz")
    with tarfile.open(path) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames() if "/" in name}
    listed = subprocess.run(["git", "-c", f"safe.directory={installed.ROOT}", "ls-files"],
                            cwd=installed.ROOT, capture_output=True, text=True, check=True)
    assert set(listed.stdout.splitlines()) <= inside
