"""A layer includes its own headers, those of the next layer down, and base/; nothing above."""

import os
import re
import subprocess

import pytest
import tree

# Bottom first. A file belongs to the layer with the longest folder that holds it.
BOTTOM = ("environments/engine", "environments/process")  # side by side: neither knows the other
LAYERS = [
    *BOTTOM,
    "environments",
    "server/tools",
    "server/mcp",
    "server/jsonrpc",
    "server/transport",
    "server",  # main: puts the layers together, so it may include every one of them
]
EVERYWHERE = ("base", "schemas")
OURS = EVERYWHERE + tuple(LAYERS)
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    holders = [layer for layer in OURS if str(path).startswith(layer + "/")]
    return max(holders, key=len, default=None)


def may_include(layer, included):
    if layer == included or included in EVERYWHERE and layer not in EVERYWHERE:
        return True
    if layer == "server":
        return True
    if layer not in LAYERS:
        return False
    if layer == "environments" or layer in BOTTOM:
        return layer not in BOTTOM and included in BOTTOM
    return included == LAYERS[LAYERS.index(layer) - 1]


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
def test_includes_its_own_header_first(path):
    own = path.with_suffix(".h")
    if path.suffix == ".c" and (tree.ROOT / own).exists():
        assert INCLUDE.search(tree.text(path)).group(2) == str(own)


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
