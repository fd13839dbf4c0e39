"""The defences by name, and for each one how it is taken away: what replaces which text of the source.

knock_out.py builds the program without one of them and shows that the programs which it is to hold are
held no more. Where a second defence would hold them as well, it is taken away with the first.
"""

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of what no single line of ours holds: the kernel, or a design that never does what would be dangerous.
NO_LINE = ("kernel: ", "by design: ")

RUNNER = "environments/process/runner"
COLD_START = f"{RUNNER}/cold_start.c"
PREPARE = f"{RUNNER}/prepare.c"
SUPERVISOR = f"{RUNNER}/supervisor.c"
MOUNTS = f"{RUNNER}/mounts.c"
TREE = "environments/process/tree.c"
LEAF = "environments/process/cgroup_leaf.c"
RUN = "environments/run.c"

NO_WALK = (SUPERVISOR, "    signal_descendants(SIGSTOP);\n    signal_descendants(SIGKILL);\n", "")
NO_FILTER = (PREPARE, "filter_install(choose_filter(preparation)) < 0", "(choose_filter(preparation), false)")
NO_SCOPE = ("environments/process/landlock.c", "ret = (int)syscall(RESTRICT_SELF, ruleset, 0);", "ret = 0;")


@dataclasses.dataclass
class KnockOut:
    defence: str
    level: str  # at which the programs are run without it
    changes: list  # (path, text that stands there once, what replaces it)
    user: str = "root"


def limit(resource):
    return COLD_START, f"    set_limit(fd, RLIMIT_{resource}, 0);\n", ""


KNOCK_OUTS = [
    # A tree, and who ends it
    KnockOut("pid namespace", "namespace", [
        (PREPARE, "CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC", "CLONE_NEWNS | CLONE_NEWIPC"),
        (SUPERVISOR, "        kill(-1, SIGKILL);\n", ""),
        (SUPERVISOR, "if (supervisor_reap(supervisor))\n            return true;", "return true;"),
    ]),
    KnockOut("kill of the cgroup", "cgroup", [
        (LEAF, '(void)cgroup_write_entry(directory, "cgroup.kill", "1");', "{}"),
        NO_WALK,
    ]),
    KnockOut("walk of the supervisor", "landlock", [NO_WALK]),
    KnockOut("reaping", "landlock", [
        (PREPARE, "if (!is_namespace && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)", "if (false)"),
        ("environments/process/host.c", "ev_timer_start(settings->loop, &host->orphans);", ""),
        NO_WALK,
    ]),
    KnockOut("end with the script", "namespace", [
        (SUPERVISOR, "(void)supervisor_reap(supervisor);\n    if (supervisor->ended <= 0)",
         "if (!supervisor_reap(supervisor))"),
    ]),
    KnockOut("deadline", "namespace", [
        (RUN, "    ev_timer_start(loop_of(run), &run->deadline);\n", ""),
    ]),

    # What is out of reach
    KnockOut("signal scope", "landlock", [NO_SCOPE]),
    KnockOut("fence", "landlock", [
        (PREPARE, "filter_install(FILTER_OTHER_PROCESSES) < 0", "false"),
    ]),
    KnockOut("undumpable supervisor", "namespace", [
        (PREPARE, "if (prctl(PR_SET_DUMPABLE, 0) < 0)", "if (false)"),
        (COLD_START, "    drop_capabilities(fd);\n", ""),  # it has more of them than who would trace it
    ]),
    KnockOut("no capabilities", "namespace", [
        (COLD_START, "    drop_capabilities(fd);\n", ""),
    ]),
    KnockOut("no capabilities of the host", "cgroup", [
        (COLD_START, "    drop_capabilities(fd);\n", ""),
    ]),
    KnockOut("no new privileges", "namespace", [
        (PREPARE, "if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)", "if (false)"),
    ]),
    KnockOut("cover of the cgroups", "namespace", [
        (PREPARE, 'if (stat("/sys/fs/cgroup", &status) == 0 &&', "if (false &&"),
        (MOUNTS, ".attr_set = MOUNT_ATTR_RDONLY", ".attr_set = 0"),
    ]),
    KnockOut("no further user namespaces", "namespace", [
        (PREPARE, '(void)preparation_write_file("/proc/sys/user/max_user_namespaces", "0");', ""),
        NO_FILTER,
    ]),
    KnockOut("no keys", "namespace", [NO_FILTER]),
    KnockOut("kernel that is read only", "namespace", [
        (MOUNTS, ".attr_set = MOUNT_ATTR_RDONLY", ".attr_set = 0"),
    ]),
    KnockOut("shared memory of its own", "namespace", [
        (MOUNTS, 'return mount("shm", SHARED_MEMORY,', 'return 0 && mount("shm", SHARED_MEMORY,'),
        (MOUNTS, "return mount(NULL, SHARED_MEMORY,", "return 0 && mount(NULL, SHARED_MEMORY,"),
    ]),
    KnockOut("script under a mount", "namespace", [
        ("environments/local.c", "? SCRIPT_LAID_OVER", "? SCRIPT_IN_PLACE"),
    ]),
    KnockOut("System V objects of its own", "namespace", [
        (PREPARE, "CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC", "CLONE_NEWNS | CLONE_NEWPID"),
    ]),
    KnockOut("closed control channel", "namespace", [
        (f"{RUNNER}/main.c", "fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC);", ""),
    ]),
    KnockOut("own session", "namespace", [
        (COLD_START, "    setsid();\n", ""),
    ]),

    # Limits
    KnockOut("limit on processes", "namespace", [(TREE, "limits->processes + 1", "limits->processes + 9999")]),
    KnockOut("limit on memory", "namespace", [
        (TREE, "cgroup_leaf_limit(tree->leaf, limits->memory,",
         "cgroup_leaf_limit(tree->leaf, 64 * limits->memory,"),
    ]),
    KnockOut("limit on open files", "namespace", [(COLD_START, "OPEN_FILES = 1024", "OPEN_FILES = 65536")]),
    KnockOut("limit on a file", "namespace", [(COLD_START, "if (run->file_bytes > 0)", "if (false)")]),
    KnockOut("limit on disk", "namespace", [
        (RUN, ".limit = request->environment->settings.disk,", ".limit = SIZE_MAX,"),
    ]),
    KnockOut("limit on deleted files", "namespace", [
        (SUPERVISOR, "supervisor->disk_limit = run->file_bytes;", ""),
    ]),
    KnockOut("no core files", "namespace", [limit("CORE")]),
    KnockOut("no message queues", "namespace", [limit("MSGQUEUE")]),
    KnockOut("bound on output", "namespace", [
        ("environments/capture.c", "capture->limit - tail_limit(capture);", "(size_t)256 << 20;"),
    ]),

    # What is data
    KnockOut("output is data", "namespace", [
        ("environments/capture.c", "return json_string_repaired(text, kept);",
         "return json_stringn(text, kept);"),
    ]),
    KnockOut("names are data", "namespace", [
        ("environments/workplace/directory_listing.c", '"path", json_string_repaired(path, strlen(path))',
         '"path", json_string(path)'),
    ]),
]


def names():
    return {knock_out.defence for knock_out in KNOCK_OUTS}


def misplaced(knock_out, root=ROOT):
    """Changes whose text does not stand in the source once."""
    return [(path, before) for path, before, _ in knock_out.changes
            if (root / path).read_text().count(before) != 1]
