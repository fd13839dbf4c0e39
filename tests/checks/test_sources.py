"""Rules of the house that a machine can see."""

import re
import shutil
import subprocess

import c_source
import pytest
import tree

FORMATTER = tree.ROOT / ".deps" / "tools" / "bin" / "clang-format"
SHELL = re.compile(r'\b(system|popen|wordexp)\s*\(|"(/bin/)?(ba)?sh"|"-c"')
UNBOUNDED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|alloca|gets)\s*\(")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)

# Written in pieces, so that this file does not find itself.
MACHINE_PATHS = re.compile("(?<![A-Za-z0-9_.])/(" + "|".join(["wor" + "k", "far" + "m", "roo" + "t"]) + ")/")
REGISTRIES = re.compile(
    "|".join([
        r"registry\." + r"npmjs", r"pypi\." + r"org", r"python" + r"hosted", r"deb\." + r"debian",
        r"security\." + r"debian", r"proxy\." + r"golang", r"crates\." + r"io", r"repo1\." + r"maven",
        "index" + "-url", '"resol' + 'ved":',
    ])
)
PROMISES = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")


def program_sources():
    return [path for path in tree.files(".c", ".h") if path.parts[0] in ("base", "environments", "server", "toolbox")]


def without_comments(text):
    keep_strings = lambda match: match.group() if match.group().startswith('"') else " "
    return COMMENT_OR_STRING.sub(keep_strings, text)


def without_comments_and_strings(text):
    return COMMENT_OR_STRING.sub(" ", text)


# One names the languages of code blocks, which are shells' too, one prints what completes command lines in a shell, and
# one knows programs whose first operand is a script. They start nothing.
NAMES_SHELLS = ["server/tools/code/block_language.c", "server/commands/command_completions.c", "server/command_files.c"]


@pytest.mark.parametrize("path", [path for path in program_sources() if str(path) not in NAMES_SHELLS], ids=str)
def test_starts_no_shell(path):
    found = SHELL.search(without_comments(tree.text(path)))
    assert not found, f"{path}: {found.group()}"


@pytest.mark.parametrize("path", program_sources(), ids=str)
def test_uses_no_unbounded_string_function(path):
    found = UNBOUNDED.search(without_comments_and_strings(tree.text(path)))
    assert not found, f"{path}: {found.group()}"


def descriptor_callbacks():
    """(path, function) for each callback of the loop about a descriptor."""
    for path in program_sources():
        for function in c_source.parse(tree.text(path)).functions:
            if re.search(r"\bev_io \*", function.parameters) and "int events" in function.parameters:
                yield path, function


def test_every_watcher_looks_at_errors():
    """A watcher that cannot watch is told EV_ERROR, once."""
    callbacks = list(descriptor_callbacks())
    assert callbacks
    deaf = [f"{path}:{function.line}" for path, function in callbacks if "(void)events" in function.body]
    assert not deaf


def test_loops_are_made_in_one_place():
    """A backend without a quota is chosen there."""
    makers = [path for path in program_sources() if re.search(r"\bev_(loop_new|default_loop)\b", tree.text(path))]
    assert [str(path) for path in makers] == ["server/loop.h"]


def test_watchers_are_stopped_without_asking():
    """A timer that has expired is not active, but its callback is still to come: only ev_timer_stop(3) forgets that."""
    asking = re.compile(r"if \(ev_is_active\([^()]*\)\)\s*(\{[^}]*|[^;{}]*)\bev_\w+_stop\(")
    found = [f"{path}: {match.group()}" for path in program_sources() for match in asking.finditer(tree.text(path))]
    assert not found, "\n".join(found)


def names_of_timers(folder, pattern):
    """The last names of the timers that PATTERN finds in FOLDER."""
    return {match.group(1) for path in program_sources() if path.parent == folder
            for match in re.finditer(pattern, tree.text(path))}


@pytest.mark.parametrize("folder", sorted({path.parent for path in program_sources()}), ids=str)
def test_each_timer_is_stopped_somewhere(folder):
    """One that expires in memory that is free, however little time it was to have."""
    name = r"&?(?:[\w\[\]]+(?:->|\.))*(\w+)"
    unstopped = names_of_timers(folder, rf"ev_timer_init\(\s*{name},") - \
        names_of_timers(folder, rf"ev_timer_stop\([^,;]*,\s*{name}\)")
    assert not unstopped


def committed_text():
    return [
        path for path in tree.files()
        if "corpus" not in path.parts and "regression" not in path.parts
    ]


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRIES, PROMISES],
                         ids=["machine paths", "registry hosts", "promises to do it later"])
def test_no_file_has(pattern):
    found = [
        f"{path}:{number}: {line.strip()[:120]}"
        for path in committed_text()
        for number, line in enumerate(tree.text(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


def test_every_file_is_small():
    large = [str(path) for path in tree.files() if (tree.ROOT / path).stat().st_size > 512 * 1024]
    assert not large


def test_c_sources_are_formatted():
    if not FORMATTER.exists():
        pytest.skip(f"no {FORMATTER.name}; ./dev deps installs it")
    names = [str(path) for path in tree.files(".c", ".h")]
    checked = subprocess.run([FORMATTER, "--dry-run", "-Werror", *names],
                             cwd=tree.ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr + "\n./dev fmt mends it"


def test_shell_scripts_pass_shellcheck():
    if not shutil.which("shellcheck"):
        pytest.skip("no shellcheck")
    names = ["dev", ".ci/run", *(str(path) for path in tree.files(".sh"))]
    checked = subprocess.run(["shellcheck", *names], cwd=tree.ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
