"""Files are opened through base/untrusted.h, except where a file here says why not.

What a script, a call or another environment could have touched may be a link, a FIFO, a device, a file without end, or
under a lease. open(2) waits for some of these and follows others, and so do the functions below.
"""

import re

import c_source
import pytest
import tree

# They follow links, wait, or give rights, and find what they work on by a path.
BY_PATH = re.compile(
    r"(?<![\w.>])(open|openat|openat2|creat|fopen|freopen|opendir|json_load_file|fd_read_file|stat|rename|renameat"
    r"|renameat2|getxattr|setxattr|removexattr|chmod|fchmodat|chown|fchownat|truncate)\s*\(")
FOLLOWS = re.compile(r"\b(fstatat|utimensat|faccessat)\s*\((?:[^()]|\([^()]*\))*\)")

KERNEL = "files of the kernel, or in /etc"
DIRECTORY = "a directory: O_DIRECTORY waits for nothing"
RENAME = "rename(2) moves a link itself, and waits for nothing"
NEW = "a new file: O_EXCL"
OPERATOR = "the operator's own file, where links are followed"

EXCEPT = {
    "base/fd.c": ("open rename stat", f"{NEW}; {RENAME}; fd_read_file() is for the files below"),
    "base/holdings.c": ("fopen opendir", KERNEL),
    "base/python_helpers.c": ("fopen open", KERNEL),
    "base/untrusted.c": ("open openat", "this is how it is done"),
    "environments/docker/run.c": ("rename", RENAME),
    "environments/engine/engine_error.c": ("fopen stat", KERNEL),
    "environments/engine/init/main.c": ("open opendir", KERNEL),
    "environments/engine/init/program.c": ("open", KERNEL),
    "environments/engine/init/usage.c": ("open", KERNEL),
    "environments/engine/init/watch.c": ("open", "the script, no links, without waiting; it is only compared"),
    "environments/gpu_files.c": ("fd_read_file", KERNEL),
    "environments/instance.c": ("open openat", f"{NEW}; {DIRECTORY}"),
    "environments/interpreter/base_python.c": ("rename", RENAME),
    "environments/interpreter/file_identity.c": ("stat", "compares; an interpreter is often behind links"),
    "environments/interpreter/interpreter.c": ("stat", "an interpreter is often behind links"),
    "environments/interpreter/python_needs.c": ("fopen", KERNEL),
    "environments/interpreter/search_path.c": ("stat", "an interpreter is often behind links"),
    "environments/nodes/node_receiving.c": ("renameat", RENAME),
    "environments/notebook/kernel_search.c": ("open opendir", OPERATOR),
    "environments/place_guard.c": ("stat", "says what a real path is; nothing is opened"),
    "environments/process/cgroup_leaf.c": ("stat", KERNEL),
    "environments/process/cgroup_place.c": ("open fd_read_file", KERNEL),
    "environments/process/cgroup_tree.c": ("opendir stat", KERNEL),
    "environments/process/host_ahead.c": ("stat", KERNEL),
    "environments/process/machine.c": ("open", KERNEL),
    "environments/process/core/company.c": ("open opendir", KERNEL),
    "environments/process/core/core.c": ("open", KERNEL),
    "environments/process/core/keeper.c": ("open", KERNEL),
    "environments/process/core/mappings.c": ("fopen open", KERNEL),
    "environments/process/core/networks.c": ("open", KERNEL),
    "environments/process/core/script_run.c": ("fopen", "the script, in a worker, as Python itself does"),
    "environments/process/core/worker.c": ("open", DIRECTORY),
    "environments/process/core/zygote.c": ("opendir", KERNEL),
    "environments/process/nursery.c": ("fopen", KERNEL),
    "environments/process/runner/cold_start.c": ("open", KERNEL),
    "environments/process/runner/confine.c": ("opendir stat", KERNEL),
    "environments/process/runner/copies.c": ("open", KERNEL),
    "environments/process/runner/descendants.c": ("fopen opendir", KERNEL),
    "environments/process/runner/files.c": ("open", "with O_PATH, for rules; where it can be written, no links"),
    "environments/process/runner/plain_path.c": ("open openat", "follows no link, as base/untrusted.h, for places that are no files"),
    "environments/process/runner/proc.c": ("opendir", KERNEL),
    "environments/process/runner/identity.c": ("open stat", KERNEL),
    "environments/process/runner/kernel.c": ("open", KERNEL),
    "environments/process/runner/left_files.c": ("opendir", "a directory of the run's own that is a mount; all its processes are dead"),
    "environments/process/runner/mounts.c": ("fopen stat", f"{KERNEL}; in the mount namespace of the run"),
    "environments/process/runner/nursery.c": ("open", DIRECTORY),
    "environments/process/runner/process_stat.c": ("open", KERNEL),
    "environments/process/runner/prepare.c": ("stat", KERNEL),
    "environments/process/runner/root.c": ("open", "the machine's own, with O_PATH"),
    "environments/process/runner/root_place.c": ("open", "files that it makes in a new root"),
    "environments/process/runner/supervisor.c": ("open", KERNEL),
    "environments/process/runner/script.c": ("open", "in a file system of the script's own"),
    "environments/process/spawn.c": ("open", "the runner, with O_PATH; the core, beside it; /dev/null"),
    "environments/process/tree_usage.c": ("fd_read_file opendir", KERNEL),
    "environments/venv/builder.c": ("rename", RENAME),
    "environments/venv/place.c": ("open opendir", DIRECTORY),
    "environments/venv/record.c": ("open", DIRECTORY),
    "environments/venv/scripts.c": ("openat opendir renameat", f"{NEW}; {DIRECTORY}; {RENAME}"),
    "environments/venv/sweep.c": ("open opendir rename", f"{DIRECTORY}; {RENAME}"),
    "environments/venv/venv.c": ("open", DIRECTORY),
    "environments/workplace/directory_claim.c": ("openat renameat", f"{NEW}; {RENAME}"),
    "environments/workplace/directory_copy.c": ("open openat", f"{NEW}; {DIRECTORY}"),
    "environments/workplace/directory_file.c": ("openat renameat", f"{NEW}; {RENAME}"),
    "environments/workplace/directory_removal.c": (
        "chmod openat renameat", f"{DIRECTORY}; {RENAME}; chmod(2) through an open descriptor"),
    "environments/workplace/workplace.c": ("open openat", DIRECTORY),
    "environments/workplace/workplace_sweep.c": ("renameat", RENAME),
    "server/admin.c": ("fopen", KERNEL),
    "server/clients/program_path.c": ("stat", "compares; a program is often behind links"),
    "server/clients/settings_file.c": ("open rename stat", f"{OPERATOR}; {NEW}; {RENAME}"),
    "server/commands/command_completions.c": ("fd_read_file", "a file that is installed with the program"),
    "server/commands/command_map.c": ("fd_read_file", "a file of who types the command"),
    "server/commands/command_node.c": ("stat", KERNEL),
    "server/commands/command_run.c": ("fd_read_file", "a file of who types the command; it may be a pipe"),
    "server/commands/input_lines.c": ("open", "a file of who types the command; it may be a pipe"),
    "server/commands/named_files.c": ("opendir", OPERATOR),
    "server/commands/terminal.c": ("open", KERNEL),
    "server/configuration/config.c": ("open", f"{OPERATOR}: a regular one, without waiting"),
    "server/main.c": ("open", KERNEL),
    "server/token_file.c": ("open", f"{OPERATOR}: a regular one, without waiting"),
    "server/transport/http/tls.c": ("stat", f"{OPERATOR}: a regular one"),
    "server/transport/listener.c": ("open", KERNEL),
    "server/transport/socket/descent.c": ("fopen opendir", KERNEL),
    "server/transport/socket/socket.c": ("open", DIRECTORY),
    "server/transport/standard_io.c": ("open", KERNEL),
}

# What a process has open is a link in /proc; fstatat(2) does not open what it leads to.
EXCEPT_FOLLOWING = {"base/holdings.c"}


def sources():
    return [path for path in tree.files(".c") if path.parts[0] in ("base", "environments", "server", "toolbox")]


def functions_by_path(text):
    statements = c_source.parse(text).statements
    own = {function.name for function in c_source.parse(text).functions}
    return {match.group(1) for match in BY_PATH.finditer(statements)} - own


@pytest.mark.parametrize("path", sources(), ids=str)
def test_a_file_is_opened_by_path_only_where_that_has_a_reason(path):
    allowed = set(EXCEPT.get(str(path), ("", ""))[0].split())
    found = functions_by_path(tree.text(path))
    assert found <= allowed, f"{path} calls {', '.join(sorted(found - allowed))}: use base/untrusted.h"
    assert allowed <= found, f"{path} no longer calls {', '.join(sorted(allowed - found))}: take it off the list"


@pytest.mark.parametrize("path", [path for path in sources() if str(path) not in EXCEPT_FOLLOWING], ids=str)
def test_what_looks_at_a_name_in_a_directory_follows_no_link(path):
    for call in FOLLOWS.finditer(c_source.parse(tree.text(path)).statements):
        assert "AT_SYMLINK_NOFOLLOW" in call.group() or "flags" in call.group(), f"{path}: {call.group()}"


def test_the_list_names_files_that_are_there():
    assert set(EXCEPT) <= {str(path) for path in sources()}


def test_calls_are_told_from_other_uses_of_the_names():
    assert functions_by_path("int a = open(p);\nint b = x->open(p);\nstruct stat s;\n") == {"open"}
    assert functions_by_path("/* stat(p) */\nint a = rename (p, q);\n") == {"rename"}
