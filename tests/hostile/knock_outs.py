"""The defences by name, how each is taken away, and at which levels that sets programs free.

knock_out.py builds the program without a defence and runs the programs that name it. Where another
defence would hold them as well, it is taken away with the first. Defences between clients, servers and
nodes, which no program attacks, have tests of the suite instead.
"""

import dataclasses
import pathlib
import re

import corpus

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of what no line of ours holds: a design that never does what would be dangerous, the kernel, the
# engine, or a level where there is nothing to attack.
NO_LINE = ("by design: ", "kernel: ", "engine: ", "level: ")

# Levels, and who can run programs at them.
SETTINGS = [("namespace", "root"), ("namespace", "user"), ("cgroup", "root"),
            ("landlock", "root"), ("landlock", "user"), ("docker", "root"),
            ("sandbox", "root"), ("sandbox", "user"),
            ("sandbox landlock", "root"), ("sandbox landlock", "user"),
            ("sandbox hosts", "root"), ("sandbox hosts", "user")]

RUNNER = "environments/process/runner"
COLD_START = f"{RUNNER}/cold_start.c"
CONFINE = f"{RUNNER}/confine.c"
WORKER = "environments/process/core/worker.c"
FILTER = "environments/process/filter"
IDENTITY = f"{RUNNER}/identity.c"
PREPARE = f"{RUNNER}/prepare.c"
SUPERVISOR = f"{RUNNER}/supervisor.c"
MOUNTS = f"{RUNNER}/mounts.c"
TREE = "environments/process/tree.c"
LEAF = "environments/process/cgroup_leaf.c"
TURN = "environments/turn.c"
CAPTURE = "environments/capture.c"
CONTAINER = "environments/docker/container_description.c"
SITE = "environments/docker/site.c"
INIT = "environments/engine/init"
PROXY = "environments/egress/helper"
REPLICAS = "server/transport/http/replicas.c"


def layers(*names):
    """The runner gets the layers without these."""
    without = " | ".join(f"LAYER_{name}" for name in names)
    return f"{RUNNER}/main.c", "strtoul(argv[1], NULL, 10);", f"strtoul(argv[1], NULL, 10) & ~({without});"


def limit(resource):
    return CONFINE, f"    set_limit(fd, RLIMIT_{resource}, 0);\n", ""


LIMITS = "run.limits = tree->limits;"
# It ends a chain of forks where many of the links are still to be reaped.
NO_LIMIT_ON_PROCESSES = [(TREE, LIMITS, f"{LIMITS}\n    run.limits.processes += 9999;"),
                         (TREE, "limits->processes + 1 + tree->keepers", "limits->processes + 9999")]
NO_FILTER_OF_THE_KERNEL = (PREPARE, "filter_install(choose_filter(preparation)) < 0", "(choose_filter(preparation), false)")
NO_READ_ONLY = (MOUNTS, ".attr_set = MOUNT_ATTR_RDONLY", ".attr_set = 0")
NO_FILTER_OF_WORKERS = (WORKER, "confine_need(fd, filter_install(FILTER_WORKER)", "confine_need(fd, 0")
NO_CAPABILITIES = [(path, "    confine_capabilities(fd, 0);\n", "") for path in (COLD_START, WORKER)]

# How each defence is taken away: (path, text that stands there once, what replaces it).
CHANGES = {
    # A tree, and who ends it
    "pid namespace": [
        (PREPARE, "CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC", "CLONE_NEWNS | CLONE_NEWIPC"),
        (SUPERVISOR, "        kill(-1, SIGKILL);\n", ""),
        (SUPERVISOR, "if (supervisor_reap(supervisor))\n            return true;", "return true;"),
        *NO_LIMIT_ON_PROCESSES,
    ],
    "kill of the cgroup": [
        (LEAF, '(void)cgroup_write_entry(directory, "cgroup.kill", "1");', "{}"),
    ],
    "walk of the supervisor": [
        (SUPERVISOR, "    signal_descendants(SIGSTOP);\n    signal_descendants(SIGKILL);\n", ""),
        *NO_LIMIT_ON_PROCESSES,
    ],
    "reaping": [
        (PREPARE, "if (!is_namespace && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)", "if (false)"),
        ("environments/process/host.c", "ev_timer_start(settings->loop, &host->orphans);", ""),
    ],
    "end with the script": [
        (SUPERVISOR, "(void)supervisor_reap(supervisor);\n    if (supervisor->ended <= 0)",
         "if (!supervisor_reap(supervisor))"),
        (f"{INIT}/main.c", "            if (pid == program)\n                return;\n",
         "            ;\n        if (pid < 0)\n            return;\n"),
    ],
    "deadline": [
        (TURN, "    ev_timer_start(turn->loop, &turn->deadline);\n", ""),
        (CONTAINER, 'json_array_append_new(command, json_string_format("%.3f", container->seconds));',
         'json_array_append_new(command, json_string("3600"));'),
    ],

    # What is out of reach
    "signal scope": [
        ("environments/process/landlock.c", "ret = landlock_restrict(rules);", "ret = 0;"),
    ],
    "fence": [(PREPARE, "filter_install(FILTER_OTHER_PROCESSES) < 0", "false")],
    "undumpable supervisor": [
        (PREPARE, "prctl(PR_SET_DUMPABLE, 0)", "0"),
        (WORKER, "    prctl(PR_SET_DUMPABLE, 0);", "    (void)0;"),
        (f"{INIT}/main.c", "if (prctl(PR_SET_DUMPABLE, 0) < 0)", "if (false)"),
    ],
    "no capabilities": [
        *NO_CAPABILITIES,
        (CONTAINER, 'json_pack("[s]", "ALL")', "json_array()"),
    ],
    "no capabilities of the machine": NO_CAPABILITIES,
    "no new privileges": [
        (PREPARE, "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)", "0"),
        (CONTAINER, 'json_pack("[s]", "no-new-privileges")', "json_array()"),
    ],
    "cover of the cgroups": [
        (PREPARE, 'if (stat("/sys/fs/cgroup", &status) < 0)', "if (true)"),
    ],
    "no further user namespaces": [
        *[(path, '(void)kernel_write("/proc/sys/user/max_user_namespaces", "0");', ";")
          for path in (PREPARE, IDENTITY, f"{RUNNER}/root_renewal.c")],
        NO_FILTER_OF_THE_KERNEL, NO_FILTER_OF_WORKERS,
    ],
    "no keys": [NO_FILTER_OF_THE_KERNEL, NO_FILTER_OF_WORKERS],
    "no leases": [(f"{FILTER}/forbidding_rules.c", "FILTER_IS, 1, F_SETLEASE}", "FILTER_IS, 1, 65535}")],
    "no setuid files": [(f"{FILTER}/forbidding_rules.c", "enum { OF_OTHERS = S_ISUID | S_ISGID };", "enum { OF_OTHERS = 0 };")],
    "listed protocols": [
        (f"{FILTER}/sandbox_rules.c", "FILTER_HAS, 2, ~(uint32_t)BITS_OF_PROTOCOLS}", "FILTER_HAS, 2, 0}"),
    ],
    "no watches in the machine's root": [
        (f"{FILTER}/forbidding_rules.c", '{"inotify_add_watch", EACCES},', '{"inotify_add_watch", FILTER_ALLOW},'),
    ],
    "no calls of another architecture": [
        (f"{FILTER}/filter_compiler.c", "!rules->is_native_only && ", "false && "),
        (f"{FILTER}/filter_code.c", "    code_put_answer(code, FILTER_KILL);", "    code_put_answer(code, FILTER_ALLOW);"),
    ],
    "profile of system calls": [
        (CONTAINER, "if (container->seccomp)\n        json_array_append_new(options, "
         'json_string_format("seccomp=%s", container->seccomp));',
         'json_array_append_new(options, json_string("seccomp=unconfined"));'),
    ],
    "kernel that is read only": [NO_READ_ONLY],
    "shared memory of its own": [
        (MOUNTS, 'return mount("shm", SHARED_MEMORY,', 'return 0 && mount("shm", SHARED_MEMORY,'),
        (MOUNTS, "return mount(NULL, SHARED_MEMORY,", "return 0 && mount(NULL, SHARED_MEMORY,"),
    ],
    "script under a mount": [
        ("environments/local.c", "? SCRIPT_LAID_OVER", "? SCRIPT_IN_PLACE"),
        (SITE, "docker_mount(request->code_file, script, false)",
         "docker_mount(request->code_file, script, true)"),
    ],
    "System V objects of its own": [
        (PREPARE, "CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC", "CLONE_NEWNS | CLONE_NEWPID"),
        (WORKER, "CLONE_NEWNS | CLONE_NEWIPC |", "CLONE_NEWNS |"),
    ],
    "closed descriptors": [
        (f"{RUNNER}/main.c", "fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC);", ""),
        (WORKER, "    worker_close_descriptors();\n", ""),
        (f"{INIT}/watch.c", "SFD_CLOEXEC | SFD_NONBLOCK", "SFD_NONBLOCK"),
    ],
    "own session": [
        (COLD_START, "    setsid();\n", ""),
        (WORKER, "    setsid();\n", ""),
        (f"{INIT}/program.c", "    setsid();\n", ""),
    ],

    # What a sandbox has more. The server believes that it is there.
    "files of the sandbox": [layers("ROOT", "FILES", "UID")],
    "network of the sandbox": [layers("NETWORK", "OFFLINE")],
    "cover of the machine": [
        (f"{RUNNER}/root.c",
         'return move_mount(preparation->cover, "", AT_FDCWD, MACHINE, MOVE_MOUNT_F_EMPTY_PATH);',
         "return preparation->cover < 0 ? -1 : 0;"),
    ],
    "listed calls": [
        *[(f"{FILTER}/sandbox_rules.c",
           f".tables = {{{own}file_rules, sandbox_rules}},\n    .otherwise = EPERM,\n    .unknown = ENOSYS,",
           f".tables = {{{own}file_rules}},\n    .otherwise = FILTER_ALLOW,\n    .unknown = FILTER_ALLOW,")
          for own in ("", "offline_rules, ", "zygote_rules, ")],
        NO_FILTER_OF_WORKERS,
    ],

    "uid of its own": [layers("UID")],
    # It alone keeps nothing from anybody: the processes of a PID namespace are all that it can show.
    "process table of its own": [
        (f"{RUNNER}/root.c",
         "ret = mount(root_own[i].type, root_own[i].place, root_own[i].type, root_own[i].flags,",
         'ret = strcmp(root_own[i].type, "proc") == 0 ? mount("/proc", root_own[i].place, NULL, MS_BIND | MS_REC, NULL) :\n'
         "mount(root_own[i].type, root_own[i].place, root_own[i].type, root_own[i].flags,"),
    ],

    # What a run with a list of hosts has more
    "hosts of the proxy": [
        (f"{PROXY}/destination_socket.c", "if (!destination_is_open(open, wanted))", "if (false)"),
    ],
    "addresses of the proxy": [
        (f"{PROXY}/destination_socket.c", "if (!destination_may_be_at(open, wanted, &address, destination_is_own(&address))) {", "if (false) {"),
    ],
    "connections of the proxy": [(f"{PROXY}/main.c", "PROXY_VISITS = 128", "PROXY_VISITS = 4096")],
    "heads of the proxy": [
        (f"{PROXY}/visit.c", "sizeof visit->bytes - visit->length, 0);", "(size_t)1 << 20, 0);"),
    ],

    # Limits
    "limit on processes": [
        *NO_LIMIT_ON_PROCESSES,
        (CONTAINER, "processes + OWN_PROCESSES", "processes + 9999"),
    ],
    "limit on memory": [
        (TREE, "cgroup_leaf_limit(tree->leaf, limits->memory,",
         "cgroup_leaf_limit(tree->leaf, 64 * limits->memory,"),
        (TREE, LIMITS, f"{LIMITS}\n    run.limits.memory *= 64;"),
        (CONTAINER, '"Memory", json_integer((json_int_t)memory)',
         '"Memory", json_integer((json_int_t)(64 * memory))'),
        (CONTAINER, '"MemorySwap", json_integer((json_int_t)memory)',
         '"MemorySwap", json_integer((json_int_t)(64 * memory))'),
    ],
    "limit on open files": [
        (CONFINE, "OPEN_FILES = 1024", "OPEN_FILES = 4096"),
        (CONTAINER, "OPEN_FILES = 1024", "OPEN_FILES = 4096"),
    ],
    "limit on a file": [
        (CONFINE, "if (limits->file_size > 0)", "if (false)"),
        (CONTAINER, "if (purposes[container->purpose].has_workspace && file_size > 0)", "if (false)"),
    ],
    "limit on disk": [
        (TURN, "turn->growth.limit = turn->environment->settings.disk;", "turn->growth.limit = SIZE_MAX;"),
    ],
    "limit on deleted files": [
        (SUPERVISOR, "supervisor->disk_limit = run->limits.file_size;", ""),
        (f"{INIT}/main.c", "return holdings.deleted > most;", "return false;"),
    ],
    "no core files": [
        limit("CORE"),
        ("server/main.c", "    setrlimit(RLIMIT_CORE, &no_core);\n", ""),  # the server's own is inherited
        (CONTAINER, 'container_description_limit("core", 0)', 'container_description_limit("core", 1 << 30)'),
    ],
    "no message queues": [limit("MSGQUEUE")],
    "bound on output": [
        (CAPTURE, "(struct capture){.limit = limit};", "(struct capture){.limit = limit + ((size_t)256 << 20)};"),
    ],

    # What is data
    "output is data": [
        (CAPTURE, "return json_string_repaired(text, kept);", "return json_stringn(text, kept);"),
    ],
    "names are data": [
        ("environments/workplace/directory_listing.c", '"path", json_string_repaired(path, strlen(path))',
         '"path", json_string(path)'),
    ],

    # Between clients, servers and nodes
    "seal of a replica": [
        ("server/transport/identity/replica_seal.c",
         "if (!mac || !digest_verify(key, text + prefix, (size_t)(dot - text) - prefix, mac, length))", "if (!mac)"),
    ],
    "one use of a seal": [(REPLICAS, "if (!replay_window_take(&from->window, seal.epoch, seal.number))", "if (false)")],
    "one replica for a seal": [(REPLICAS, "if (strcmp(seal->to, replicas->self) != 0)", "if (false)")],
    "one request for a seal": [(REPLICAS, "return strcmp(seal->digest, digest) == 0;", "return true;")],
    "age of a seal": [(REPLICAS, "if (!replicas_is_recent(replicas, seal))", "if (false)")],
    "token behind a seal": [
        ("server/transport/http/http_visit.c", "        problem = http_visit_check_sealed(visit);", "        problem = NULL;"),
    ],
    "what scripts only read of their directory": [
        ("server/origin_checks.c", "origin_is_reached(origin, directory) &&", "false &&"),
    ],
    "what scripts of a node only read": [
        ("environments/outpost/outpost_visit.c",
         "    outpost_place_keep(visit->outpost, visit->number, request.directory, visit->request.kept);\n", ""),
    ],
    "what a node does not send back": [
        ("environments/nodes/node_copy.c", "copy->receiving.kept = copy->kept;", "copy->receiving.kept = NULL;"),
    ],
    "files of calls beside what scripts only read": [
        ("environments/environment.c", "if (script_places_hold(environment->kept, whole))", "if (false)"),
    ],
    "own root beside what scripts only read": [
        ("environments/process/tree.c", "(sandbox->keeps ? LAYER_ROOT : 0U)", "0U"),
    ],
    "what a call's environment does not change": [
        ("environments/catalog/exposure.c", "    if (!path)\n        return 0;\n    return error_set(err, ERROR_INVALID_ARGUMENTS,\n                     \"environment_definition.%s: scripts",
         "    if (!path || true)\n        return 0;\n    return error_set(err, ERROR_INVALID_ARGUMENTS,\n                     \"environment_definition.%s: scripts"),
    ],
    "owner of a session of HTTP": [
        ("server/transport/http/http_sessions.c",
         "if (strcmp(session->principal, principal) == 0 && strcmp(session->id, id) == 0) {",
         "if (principal && strcmp(session->id, id) == 0) {"),
    ],
    "owner of a session": [
        ("environments/notebook/notebooks.c", "if (!notebook->is_closed && strcmp(notebook->owner, owner) == 0)",
         "if (!notebook->is_closed && owner)"),
    ],
    "owner of a task": [
        ("server/mcp/task_store.c", "return task->principal == request->peer->caller->principal &&",
         "return task->principal != NULL &&"),
    ],
    "owner of a working directory": [
        ("environments/workplace/workplace.c", "strcmp(directory->principal, place->principal) == 0)",
         "directory->principal)"),
    ],
    "question to a node before its first run": [
        ("environments/nodes/node_execution.c", "run->is_asking = node_execution_introduce(run->node, stay);",
         "(void)node_execution_introduce(run->node, stay);"),
    ],
}


@dataclasses.dataclass
class KnockOut:
    defence: str
    levels: str  # of corpus.LEVELS, where programs are run without it
    also: tuple = ()  # defences that would hold them as well
    programs: tuple = ()  # which ones; all that name it
    user: str = ""  # only as this one; both
    needs: int = -1  # capability that programs get only where root has it

    def title(self):
        return " + ".join([self.defence, *self.also])

    def changes(self):
        """What is changed in the source, each thing once."""
        return list(dict.fromkeys(change for name in (self.defence, *self.also) for change in CHANGES[name]))

    def covers(self, program, level, user):
        """True when PROGRAM is to get through without it."""
        return level in self.levels.split(", ") and self.user in ("", user) \
            and self.defence in program.held_by and program.is_run(level, user) \
            and (not self.programs or program.name in self.programs)

    def lacks(self):
        """What is missing on this machine to show it, or nothing."""
        bounding = re.search(r"CapBnd:\s(\w+)", pathlib.Path("/proc/self/status").read_text()).group(1)
        has = self.needs < 0 or int(bounding, 16) >> self.needs & 1
        return "" if has else f"root has no capability {self.needs} on this machine"

    def programs_at(self, level, user):
        return [program for program in corpus.programs() if self.covers(program, level, user)]


# Defences that no program attacks, and the tests that fail without each of them.
SHOWN = {
    "seal of a replica": ["integration/test_replicas.py::test_a_wrong_seal_is_refused"],
    "one use of a seal": ["integration/test_replicas.py::test_a_seal_is_believed_once"],
    "one replica for a seal": ["integration/test_replicas.py::test_a_wrong_seal_is_refused"],
    "one request for a seal": ["integration/test_replicas.py::test_a_wrong_seal_is_refused"],
    "age of a seal": ["integration/test_replicas.py::test_a_wrong_seal_is_refused"],
    "token behind a seal": ["integration/test_replicas.py::test_a_wrong_seal_is_refused"],
    "what scripts only read of their directory": [
        "integration/test_origins.py::test_a_script_works_in_a_project_and_leaves_its_configuration"],
    "what scripts of a node only read": [
        "integration/test_origins.py::test_a_script_on_a_node_works_in_a_project_and_leaves_its_configuration"],
    "what a node does not send back": ["integration/test_origins.py::test_no_node_changes_the_configuration"],
    "files of calls beside what scripts only read": ["integration/test_origins.py::test_no_call_has_the_server_write_what_is_kept"],
    "own root beside what scripts only read": [
        "integration/test_origins.py::test_a_node_without_namespaces_runs_nothing_beside_a_configuration"],
    "what a call's environment does not change": [
        "integration/test_origins.py::test_no_call_defines_an_environment_into_which_a_server_of_tools_leads"],
    "owner of a session of HTTP": ["integration/test_replicas.py::test_nothing_of_one_client_is_found_by_another"],
    "owner of a session": ["integration/test_replicas.py::test_nothing_of_one_client_is_found_by_another"],
    "owner of a task": ["integration/test_tasks.py::test_a_task_of_somebody_else_is_unknown"],
    "owner of a working directory": ["integration/test_file_resources.py::test_others_find_nothing"],
    "question to a node before its first run": [
        "integration/test_nodes.py::test_a_node_that_gives_less_than_the_first_gets_scripts_as_it_can_take_them"],
}

CAP_SYS_RESOURCE = 24  # linux/capability.h

ALL = "namespace, cgroup, landlock, docker"
PROCESSES = "namespace, cgroup, landlock"
SANDBOXES = "sandbox, sandbox landlock"

KNOCK_OUTS = [
    KnockOut("pid namespace", "namespace"),
    KnockOut("kill of the cgroup", "cgroup", also=("walk of the supervisor",)),
    KnockOut("walk of the supervisor", "landlock"),
    KnockOut("reaping", "cgroup, landlock", also=("walk of the supervisor",)),
    KnockOut("end with the script", ALL),
    KnockOut("deadline", ALL),

    KnockOut("signal scope", "cgroup, landlock"),
    KnockOut("fence", "cgroup, landlock"),
    # With more capabilities than the supervisor a program may trace it all the same.
    KnockOut("undumpable supervisor", "namespace", also=("no capabilities",), user="root"),
    KnockOut("undumpable supervisor", "cgroup, landlock", also=("no capabilities", "signal scope")),
    KnockOut("undumpable supervisor", "docker", programs=("reads_secrets",)),
    KnockOut("undumpable supervisor", "docker", also=("profile of system calls",), programs=("traces_others",)),
    KnockOut("no capabilities", PROCESSES, programs=("capabilities",)),
    KnockOut("no capabilities", "namespace", programs=("privileged_calls",), user="root"),
    KnockOut("no capabilities", "cgroup, landlock", programs=("privileged_calls",)),
    KnockOut("no capabilities", "docker", programs=("capabilities",)),
    KnockOut("no capabilities", "docker", also=("profile of system calls",), programs=("privileged_calls",)),
    KnockOut("no capabilities of the machine", "cgroup", needs=CAP_SYS_RESOURCE),
    KnockOut("no new privileges", "namespace"),
    KnockOut("no new privileges", "docker"),
    KnockOut("cover of the cgroups", "namespace", also=("kernel that is read only",), user="root"),
    KnockOut("no further user namespaces", "namespace"),
    KnockOut("no keys", PROCESSES),
    KnockOut("no leases", PROCESSES),
    KnockOut("no setuid files", PROCESSES),
    KnockOut("no calls of another architecture", PROCESSES),
    KnockOut("no calls of another architecture", SANDBOXES, programs=("sockets_in_32_bits",)),
    KnockOut("profile of system calls", "docker"),
    KnockOut("kernel that is read only", "namespace", user="root"),
    KnockOut("shared memory of its own", "namespace"),
    KnockOut("script under a mount", "namespace, docker"),
    KnockOut("System V objects of its own", "namespace"),
    KnockOut("closed descriptors", ALL),
    KnockOut("own session", ALL),

    KnockOut("files of the sandbox", SANDBOXES, programs=("files_outside",)),
    KnockOut("files of the sandbox", "sandbox", programs=("changes_outside",), user="root"),
    KnockOut("files of the sandbox", "sandbox landlock", programs=("changes_outside",)),
    KnockOut("network of the sandbox", SANDBOXES),
    KnockOut("cover of the machine", "sandbox"),
    KnockOut("listed calls", SANDBOXES),
    KnockOut("listed protocols", "sandbox"),
    KnockOut("listed protocols", "sandbox landlock", also=("network of the sandbox",)),
    KnockOut("no watches in the machine's root", "sandbox landlock"),
    KnockOut("uid of its own", "sandbox", programs=("quotas_of_its_user",)),
    KnockOut("uid of its own", "sandbox", also=("pid namespace", "process table of its own"),
             programs=("signals_its_user",)),

    KnockOut("pid namespace", "sandbox hosts", also=("uid of its own", "process table of its own")),
    KnockOut("hosts of the proxy", "sandbox hosts", also=("addresses of the proxy",)),
    KnockOut("addresses of the proxy", "sandbox hosts"),
    KnockOut("connections of the proxy", "sandbox hosts"),
    KnockOut("heads of the proxy", "sandbox hosts"),

    KnockOut("limit on processes", ALL, user="root"),
    # Without a cgroup the stacks of threads count as memory of the process.
    KnockOut("limit on processes", "namespace, landlock", also=("limit on memory",), user="user"),
    KnockOut("limit on memory", ALL),
    KnockOut("limit on open files", ALL),
    KnockOut("limit on a file", ALL),
    KnockOut("limit on disk", ALL),
    KnockOut("limit on deleted files", "namespace, docker"),
    KnockOut("no core files", ALL),
    KnockOut("no message queues", PROCESSES),
    KnockOut("bound on output", ALL),

    KnockOut("output is data", ALL),
    KnockOut("names are data", ALL),
]


def holders(program, level, user):
    """What holds PROGRAM: defences of ours that are seen to, or else what no line of ours does. A sandbox
    has those of the level below, too, which are taken away there alone."""
    ours = [one.defence for one in KNOCK_OUTS for where in (level, corpus.BELOW.get(level))
            if one.covers(program, where, user)]
    return ours or [name for name in program.held_by if name.startswith(NO_LINE)]


def misplaced(defence, root=ROOT):
    """Changes whose text does not stand in the source once."""
    return [(path, before) for path, before, _ in CHANGES[defence]
            if (root / path).read_text().count(before) != 1]
