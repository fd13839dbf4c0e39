"""What the documents name exists: links, files, and the subcommands of ./dev."""

import json
import os
import re
import subprocess

import pytest
import tree

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
DEV_COMMAND = re.compile(r"\./dev\s+([a-z]+)")
# server/discover is a method of the protocol, not a file.
NAMED_FILE = re.compile(r"\b(?!server/discover\b)((?:examples|tests|schemas|docs|base|environments|server)/[\w./*-]*[\w*])")


def documents():
    return tree.files(".md")


def anchor(heading):
    """The anchor that a forge makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("path", documents(), ids=str)
def test_links_lead_somewhere(path):
    for link in LINK.findall(FENCE.sub("", tree.text(path))):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, fragment = link.partition("#")
        target = (tree.ROOT / path.parent / name) if name else tree.ROOT / path
        assert target.exists(), f"{path}: {link}"
        if fragment:
            anchors = [anchor(heading) for heading in HEADING.findall(target.read_text())]
            assert fragment in anchors, f"{path}: {link}"


@pytest.mark.parametrize("path", documents(), ids=str)
def test_named_files_exist(path):
    for name in NAMED_FILE.findall(tree.text(path)):
        assert list(tree.ROOT.glob(name.rstrip("."))), f"{path}: there is no {name}"


@pytest.mark.parametrize("path", documents(), ids=str)
def test_dev_commands_exist(path):
    usage = subprocess.run([tree.ROOT / "dev", "help"], capture_output=True, text=True).stdout
    known = set(re.findall(r"^  ([a-z]+)", usage, re.MULTILINE))
    assert set(DEV_COMMAND.findall(tree.text(path))) <= known


def introspect(what):
    asked = subprocess.run(["meson", "introspect", os.environ["BUILD_ROOT"], what],
                           capture_output=True, text=True, check=True)
    return json.loads(asked.stdout)


@pytest.mark.skipif("BUILD_ROOT" not in os.environ, reason="meson names the build directory")
def test_the_schema_for_editors_is_where_it_is_installed():
    (named,) = re.findall(r"\$schema=(\S+)", tree.text("docs/configuration.md"))
    (prefix,) = [option["value"] for option in introspect("--buildoptions")
                 if option["name"] == "prefix"]
    usual = [place.replace(prefix, "/usr/local", 1) for place in introspect("--installed").values()]
    assert named in usual


def test_the_changelog_has_an_entry_for_this_version():
    (version,) = re.findall(r"^  version: '(.*)',$", tree.text("meson.build"), re.MULTILINE)
    assert re.search(rf"^## {re.escape(version)}\b", tree.text("CHANGELOG.md"), re.MULTILINE)


def test_readme_is_there():
    assert tree.text("README.md").startswith("# pyexecd")
