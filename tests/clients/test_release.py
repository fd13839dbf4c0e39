"""What `./dev release` makes: whole, described, and equal when it is made again."""

import hashlib
import json
import os
import platform
import re
import subprocess
import tarfile
import zipfile

import installed
import jsonschema
import pytest

pytestmark = pytest.mark.heavy

PYTHON = "/usr/bin/python3"
VERSION = re.search(r"version: '(.*?)'", (installed.ROOT / "meson.build").read_text()).group(1)
FIRST_RESULT = installed.ROOT / "tests/fresh/first_result.py"
NODE_MACHINE = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
PLUGIN = f"linux.{NODE_MACHINE}.pyexecd-{VERSION}.tar.gz"
PROGRAMS = f"pyexecd-linux-{NODE_MACHINE}-{VERSION}.tgz"
SCHEMAS = "internal/validators/schemas"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_checksums_are_of_all_files(release):
    done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=release,
                          capture_output=True, text=True)
    assert done.returncode == 0, done
    named = {line.split(": ")[0] for line in done.stdout.splitlines()}
    assert named == {path.name for path in release.iterdir()} - {"SHA256SUMS", "SHA256SUMS.sig"}
    parts = {re.sub(r"^pyexecd-\d+\.\d+\.\d+", "", name) for name in named}
    assert {part for part in parts if not part.startswith("-py3-none-")} == {
        "-source.tar.gz", "-image.tar.gz", "-image.tar.gz.cdx.json", ".cdx.json", ".mcpb", ".mcpb.cdx.json",
        ".tar.gz", "server.json", PLUGIN, f"{PLUGIN}.cdx.json", ".tgz", PROGRAMS, f"{PROGRAMS}.cdx.json"}
    assert len(parts) == 14


def verified(public_key, signed, signature):
    return subprocess.run(["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public_key, "-in", signed,
                           "-sigfile", signature], capture_output=True).returncode == 0


def test_the_checksums_are_signed(release, signing_key, tmp_path):
    public, changed = tmp_path / "public.pem", tmp_path / "changed"
    subprocess.run(["openssl", "pkey", "-in", signing_key, "-pubout", "-out", public], check=True)
    changed.write_bytes((release / "SHA256SUMS").read_bytes() + b"\n")
    assert verified(public, release / "SHA256SUMS", release / "SHA256SUMS.sig")
    assert not verified(public, changed, release / "SHA256SUMS.sig")


def test_without_its_key_nothing_is_built(tmp_path):
    done = subprocess.run([installed.ROOT / "dev", "release", "--key", tmp_path / "none", tmp_path / "release"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and "no key" in done.stderr, done
    assert not (tmp_path / "release").exists()


@pytest.mark.release
def test_a_second_build_is_equal(release, tmp_path, monkeypatch):
    """The wheel and the sdist of ./dev wheel are made from the same commit."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    for path in installed.made_by("wheel", tmp_path).iterdir():
        assert digest(path) == digest(release / path.name), path.name


@pytest.mark.parametrize("form", ["image", "bundle", "plugin", "npm launcher", "npm programs", "server_json"])
def test_what_is_made_from_the_wheel_is_equal_when_it_is_made_again(release, form):
    made_as = {"image": "*-image.tar.gz", "bundle": "*.mcpb", "plugin": PLUGIN, "npm launcher": f"pyexecd-{VERSION}.tgz",
               "npm programs": PROGRAMS, "server_json": "server.json"}
    program, *part = form.split()
    (before,), (wheel,) = release.glob(made_as[form]), release.glob("*.whl")
    commit_time = subprocess.run(["git", "-c", f"safe.directory={installed.ROOT}", "log", "-1", "--format=%ct"],
                                 cwd=installed.ROOT, capture_output=True, text=True, check=True).stdout.strip()
    again = subprocess.run([PYTHON, installed.ROOT / f"packaging/{program}.py", *part, wheel], capture_output=True, check=True,
                           env={**os.environ, "SOURCE_DATE_EPOCH": commit_time}).stdout
    assert again == before.read_bytes()


@pytest.mark.parametrize("form", ["*.whl", "*-image.tar.gz", "*.mcpb", PLUGIN, PROGRAMS])
def test_a_bill_names_what_it_is_of_and_what_is_linked_into_it(release, form):
    (artefact,), (wheel,) = release.glob(form), release.glob("*.whl")
    name = f"pyexecd-{VERSION}" if artefact == wheel else artefact.name
    bill = json.loads((release / f"{name}.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert bill["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": digest(artefact)}]
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


def mcpb(home, *arguments):
    done = installed.run(installed.node_program("mcpb"), *arguments, home=home)
    assert done.returncode == 0, done
    return done.stdout


def test_the_bundle_is_valid_and_its_server_answers(release, tmp_path):
    (bundle,) = release.glob("*.mcpb")
    folder = tmp_path / "unpacked"
    mcpb(tmp_path, "unpack", bundle, folder)
    assert "passes" in mcpb(tmp_path, "validate", folder / "manifest.json")
    mcpb(tmp_path, "pack", folder, tmp_path / "again.mcpb")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["version"] == VERSION and (folder / manifest["server"]["entry_point"]).exists()
    command = manifest["server"]["mcp_config"]["command"].replace("${__dirname}", str(folder))
    done = installed.run(installed.python("mcp"), FIRST_RESULT, command, home=tmp_path)
    assert done.returncode == 0 and "42" in json.loads(done.stdout)["text"], done


def schema_of(entry):
    """The schema that ENTRY names, out of the source of the registry."""
    date = entry["$schema"].split("/")[-2]
    found = list((installed.DEPS / "registry/modules").glob(f"github.com/*/registry@*/{SCHEMAS}/{date}.json"))
    if not found:
        pytest.skip("no source of the registry: ./dev deps installs it")
    return json.loads(found[0].read_text())


def test_the_entry_of_the_registry_is_valid(release):
    entry = json.loads((release / "server.json").read_text())
    schema = schema_of(entry)
    assert schema["$id"] == entry["$schema"]
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(entry)
    python, node = entry["packages"]
    (wheel,) = release.glob("*.whl")
    assert python["fileSha256"] == digest(wheel)
    assert python["version"] == node["version"] == entry["version"] == VERSION
    # By this the registry knows that the package is of who has made the entry.
    assert f"mcp-name: {entry['name']} " in (installed.ROOT / "README.md").read_text()


def test_the_image_says_the_name_of_the_registry(release):
    (context,) = release.glob("*-image.tar.gz")
    with tarfile.open(context) as archive:
        dockerfile = archive.extractfile("Dockerfile").read().decode()
    name = json.loads((release / "server.json").read_text())["name"]
    assert f'io.modelcontextprotocol.server.name="{name}"' in dockerfile
    assert f'image.version="{VERSION}"' in dockerfile
