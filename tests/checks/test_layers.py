"""Includes point one way: a layer knows the next one down, a folder those below it."""

import os
import re
import subprocess

import pytest
import tree
from layers import is_upward_folder, layer_of, may_include

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def sources():
    return [path for path in tree.files(".c", ".h") if layer_of(path)]


def headers():
    return [path for path in sources() if path.suffix == ".h"]


def includes(path):
    """Yields what PATH includes with quotes; what is ours is never in angle brackets."""
    for mark, name in INCLUDE.findall(tree.text(path)):
        if mark == '"':
            yield name
        else:
            assert not (tree.ROOT / name).exists(), f"{path}: <{name}> is ours: use quotes"


@pytest.mark.parametrize("path", sources(), ids=str)
def test_includes_only_its_own_layer_the_next_one_down_and_base(path):
    for name in includes(path):
        included = layer_of(name)
        assert included, f'{path}: "{name}" does not start with a layer\'s folder'
        assert may_include(layer_of(path), included), f'{path} must not include "{name}"'


@pytest.mark.parametrize("path", sources(), ids=str)
def test_includes_only_folders_below_its_own(path):
    for name in includes(path):
        assert not is_upward_folder(path, name), f'{path} must not include "{name}"'


@pytest.mark.parametrize("path", sources(), ids=str)
def test_includes_no_private_header_of_another_folder(path):
    for name in includes(path):
        if name.endswith("_private.h"):
            assert os.path.dirname(name) == os.path.dirname(path), f'{path}: "{name}" is private'


def own_header(path):
    """The header of the source file PATH, or None."""
    names = (f"{path.with_suffix('')}.h", f"{path.with_suffix('')}_private.h")
    return next((name for name in names if (tree.ROOT / name).exists()), None)


def is_shared_header(path, name):
    """A private header that several source files of the folder share, each as its own."""
    return name.endswith("_private.h") and os.path.dirname(name) == os.path.dirname(path)


@pytest.mark.parametrize("path", tree.files(".c", ".h"), ids=str)
def test_includes_in_one_order(path):
    """Its own header, then ours, then the system's; a blank line between, each by name."""
    found = INCLUDE.findall(tree.text(path))
    own = own_header(path) if path.suffix == ".c" else None
    if own in [name for _, name in found]:
        assert found[0][1] == own
        found = found[1:]
    elif not own and found and is_shared_header(path, found[0][1]):
        found = found[1:]
    elif path.name.startswith("test_") and found and found[0][1].endswith(path.stem[5:] + ".h"):
        found = found[1:]
    ours = [name for mark, name in found if mark == '"']
    theirs = [name for mark, name in found if mark == "<"]
    assert [mark for mark, _ in found] == ['"'] * len(ours) + ["<"] * len(theirs)
    assert ours == sorted(ours)
    if "cmocka.h" not in theirs:  # which wants others before itself
        assert theirs == sorted(theirs)


@pytest.mark.parametrize("path", headers(), ids=str)
def test_header_has_pragma_once(path):
    assert "#pragma once" in tree.text(path)


def test_every_header_compiles_alone(tmp_path):
    flags = subprocess.run(
        ["pkg-config", "--cflags", "jansson", "yaml-0.1", "libpcre2-8", "libcurl"],
        capture_output=True, text=True, check=True,
    ).stdout.split()
    generated = os.environ.get("BUILD_ROOT", str(tmp_path))
    for path in headers():
        compiled = subprocess.run(
            ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
             "-I.", f"-I{generated}", *flags, "-include", str(path), "-x", "c", "/dev/null"],
            cwd=tree.ROOT, capture_output=True, text=True,
        )
        assert compiled.returncode == 0, compiled.stderr
