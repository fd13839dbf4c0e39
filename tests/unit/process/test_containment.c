/* What a program can neither do nor leave behind, at each level of containment that exists here. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/cgroup_tree.h"
#include "environments/process/landlock.h"
#include "environments/process/process.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/process/process_trial.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* Processes on this machine that sleep so long. */
static int count_processes(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while ((entry = readdir(proc))) {
        char path[300];
        char arguments[4096] = "";
        ssize_t length;
        int fd;

        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        fd = open(path, O_RDONLY);
        if (fd < 0)
            continue;
        length = read(fd, arguments, sizeof arguments - 1);
        close(fd);
        for (ssize_t i = 0; i < length; i++)
            if (arguments[i] == '\0')
                arguments[i] = ' ';
        if (strncmp(arguments, "sleep ", 6) == 0 && strstr(arguments, trial_token()))
            count++;
        if (strncmp(arguments, "/bin/sleep ", 11) == 0 && strstr(arguments, trial_token()))
            count++;
    }
    closedir(proc);
    return count;
}

static void test_no_process_inherits_a_descriptor(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    (void)state;
    process_trial_execute(
        host, &trial,
        "import os\nfound = []\nfor fd in range(1024):\n"
        " try: os.fstat(fd); found.append(fd)\n except OSError: pass\nprint(found)",
        0);
    assert_string_equal(trial.output, "[0, 1, 2]\n");
    trial_host_free(host);
}

static void check_capabilities(unsigned layers)
{
    struct trial_host *host = trial_host_new(layers);
    struct process_trial trial;

    process_trial_execute(host, &trial,
                          "import os\nmay_empty = os.getuid() == 0 or os.getpid() == 2\n"
                          "for line in open('/proc/self/status'):\n"
                          " if line[:6] == 'CapBnd' and not may_empty: continue\n"
                          " if line[:3] == 'Cap' and int(line.split()[1], 16): print(line)\n"
                          " if line[:6] == 'NoNewP': print(line.split()[1])",
                          0);
    assert_string_equal(trial.output, "1\n");
    trial_host_free(host);
}

/* For a program of the server to inherit, as a service may have them. */
static int run_with_capabilities_to_inherit(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    if (geteuid() != 0 || syscall(SYS_capget, &header, sets) < 0)
        return 0;
    sets[0].inheritable = sets[0].permitted;
    if (syscall(SYS_capset, &header, sets) < 0 ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_BIND_SERVICE, 0, 0) < 0)
        return 1;
    check_capabilities(LAYERS_OF_TREES);
    check_capabilities(LAYER_LANDLOCK);
    return 0;
}

static void test_program_has_no_capabilities(void **state)
{
    (void)state;
    check_capabilities(LAYERS_OF_TREES);
    check_capabilities(LAYER_LANDLOCK);
    run_in_child(run_with_capabilities_to_inherit);
}

/* Tries to open for writing what the kernel reads, wherever it is mounted. */
static const char writes_to_the_kernel[] =
    "import os\nsealed = {}\n"
    "for line in open('/proc/self/mountinfo'):\n"
    " head, _, tail = line.partition(' - ')\n"
    " if tail.split()[0] in ('proc', 'sysfs', 'cgroup', 'cgroup2'):\n"
    "  sealed[head.split()[4]] = head.split()[5].startswith('ro')\n"
    "print([point for point in sealed if not sealed[point] and os.path.ismount(point)],\n"
    "      '/proc' in sealed)\n"
    "for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/self/comm',\n"
    "             '/sys/kernel/uevent_helper', '/sys/power/state'):\n"
    " try: os.close(os.open(path, os.O_WRONLY)); print('open', path)\n"
    " except OSError: pass\n";

static void test_program_cannot_write_to_the_kernel(void **state)
{
    static const unsigned layers[] = {LAYERS_OF_TREES, LAYER_LANDLOCK};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
        struct trial_host *host;
        struct process_trial trial;

        if (layers[i] == LAYER_LANDLOCK && geteuid() != 0) /* has no mounts of its own */
            continue;
        host = trial_host_new(layers[i]);
        process_trial_execute(host, &trial, writes_to_the_kernel, 0);
        assert_string_equal(trial.output, "[] True\n");
        trial_host_free(host);
    }
}

static void test_no_level_has_keys_or_user_namespaces(void **state)
{
    static const unsigned layers[] = {LAYERS_OF_TREES, LAYER_PID_NAMESPACE, LAYER_LANDLOCK, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
        struct trial_host *host = trial_host_new(layers[i]);
        struct process_trial trial;

        process_trial_execute(
            host, &trial,
            "import ctypes, threading\nlibc = ctypes.CDLL(None)\n"
            "print(libc.syscall(248, b'user', b'a', b'b', 1, -3), libc.syscall(250, 0, -3, 1),\n"
            "      libc.unshare(0x10000000), libc.syscall(56, 0x10000011, 0, 0, 0, 0))\n"
            "threading.Thread(target=print, args=['thread']).start()\n",
            0);
        assert_string_equal(trial.output, "-1 -1 -1 -1\nthread\n");
        trial_host_free(host);
    }
}

static void test_shared_memory_is_private_and_bounded(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    AUTO_FREE char *path = memory_format("/dev/shm/test-%s", trial_token());
    struct process_trial trial;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    (void)state;
    close(fd);
    process_trial_execute(
        host, &trial,
        "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
        "seen = os.listdir('/dev/shm')\nfd = os.open('/dev/shm/mine', os.O_CREAT | os.O_RDWR)\n"
        "size = os.statvfs('/dev/shm'); print(seen, size.f_blocks * size.f_frsize >> 20)\n"
        "print(libc.shmget(0x7079, 4096, 0o1600) >= 0)\n",
        0);
    unlink(path);
    if (trial.end.receipt.layers & LAYER_PID_NAMESPACE) {
        assert_string_equal(trial.output, "[] 256\nTrue\n");
        assert_int_equal(shmget(0x7079, 4096, 0), -1);
    }
    trial_host_free(host);
}

static void test_program_cannot_leave_its_cgroup(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    (void)state;
    if (process_host_receipt(host->host, NULL).limiter == LIMITER_RLIMITS) {
        trial_host_free(host);
        skip();
    }
    process_trial_execute(host, &trial,
                          "import ctypes, glob, os\nlibc = ctypes.CDLL(None)\n"
                          "print(libc.unshare(0x10000000), glob.glob('/sys/fs/cgroup/*'),"
                          " libc.umount2(b'/sys/fs/cgroup', 2))",
                          0);
    assert_string_equal(trial.output, "-1 [] -1\n");
    trial_host_free(host);
}

/* Scripts that want to outlive their run; each sleeps with the token as an argument. */
static const struct hostile {
    const char *name;
    const char *script;
    double kill_after;
} hostile[] = {
    {"daemon",
     "import os\n"
     "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
     "  os.execv('/bin/sleep', ['sleep', 'TOKEN'])\n os._exit(0)\n"
     "os.wait()\n",
     0},
    {"background child holds stdout",
     "import os\nif os.fork() == 0: os.execv('/bin/sleep', ['sleep', 'TOKEN'])\nprint('done')", 0},
    {"stopped children",
     "import os, signal\nfor i in range(5):\n p = os.fork()\n"
     " if p == 0: os.execv('/bin/sleep', ['sleep', 'TOKEN'])\n os.kill(p, signal.SIGSTOP)\n",
     0},
    {"ignores signals and hangs",
     "import signal, os\nfor s in range(1, 32):\n try: signal.signal(s, signal.SIG_IGN)\n"
     " except (OSError, ValueError): pass\n"
     "os.execv('/bin/sleep', ['sleep', 'TOKEN'])",
     0.2},
    {"closes its descriptors and goes on",
     "import os\nos.closerange(0, 64)\nos.execv('/bin/sleep', ['sleep', 'TOKEN'])", 0.2},
    {"forks without end",
     "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n"
     " try: os.fork()\n except OSError: pass",
     0.3},
};

static void check_nothing_survives(unsigned layers, size_t count)
{
    struct trial_host *host = trial_host_new(layers);

    trial_host_let_spare_prepare(host);
    for (size_t i = 0; i < count; i++) {
        struct process_trial trial;
        double began = trial_now();

        process_trial_execute(host, &trial, hostile[i].script, hostile[i].kill_after);
        if (trial.ended_at - began > hostile[i].kill_after + TRIAL_SOON_SECONDS)
            fail_msg("%s took %.2f s", hostile[i].name, trial.ended_at - began);
        if (trial.end.survivors || count_processes() > 0)
            fail_msg("%s left something behind", hostile[i].name);
        if (trial.end.killed != (hostile[i].kill_after > 0))
            fail_msg("%s: killed is %d", hostile[i].name, trial.end.killed);
    }
    trial_host_free(host);
}

static void test_nothing_survives_in_a_pid_namespace(void **state)
{
    (void)state;
    check_nothing_survives(LAYERS_OF_TREES, ARRAY_SIZE(hostile));
}

static void test_nothing_survives_in_a_cgroup(void **state)
{
    struct cgroup_tree *tree = cgroup_tree_new();
    bool can_kill = cgroup_tree_can_kill(tree);

    (void)state;
    cgroup_tree_free(tree);
    if (!can_kill)
        skip();
    check_nothing_survives(LAYER_CGROUP_KILL | LAYER_LANDLOCK, ARRAY_SIZE(hostile));
}

static void test_nothing_survives_under_a_subreaper(void **state)
{
    (void)state;
    if (!landlock_can_scope_signals())
        skip();
    check_nothing_survives(LAYER_LANDLOCK, ARRAY_SIZE(hostile) - 1);
}

static void test_signals_cannot_leave_the_tree(void **state)
{
    static const unsigned layers[] = {LAYERS_OF_TREES, LAYER_LANDLOCK};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct trial_host *host;
        struct process_trial trial;

        if (layers[i] == LAYER_LANDLOCK && !landlock_can_scope_signals())
            continue;
        host = trial_host_new(layers[i]);
        process_trial_execute(host, &trial,
                              "import os, signal\nsignal.signal(15, signal.SIG_IGN)\n"
                              "for target in (-1, os.getppid()):\n"
                              " try: os.kill(target, 15); print('sent')\n"
                              " except OSError as e: print(e.strerror)",
                              0);
        assert_true(trial.end.reported);
        assert_int_equal(trial.end.returncode, 0);
        trial_host_free(host);
    }
}

static void test_limits_of_others_cannot_be_set(void **state)
{
    struct trial_host *host = trial_host_new(LAYER_LANDLOCK);
    struct process_trial trial;

    (void)state;
    process_trial_execute(
        host, &trial,
        "import ctypes, os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "def ioprio_set(*arguments):\n"
        " if ctypes.CDLL(None, use_errno=True).syscall(251, *arguments) < 0: raise "
        "PermissionError\n"
        "for call in (lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0)),\n"
        "             lambda: os.sched_setaffinity(os.getppid(), {0}),\n"
        "             lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),\n"
        "             lambda: os.setpriority(os.PRIO_USER, 0, 19),\n"
        "             lambda: ioprio_set(3, 0, 3 << 13)):\n"
        " try: call(); print('done')\n"
        " except PermissionError: print('refused')",
        0);
    assert_string_equal(trial.output, "refused\nrefused\nrefused\nrefused\nrefused\n");
    trial_host_free(host);
}

static void test_host_that_stops_ends_what_runs(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    const char *const arguments[] = {"/bin/sleep", trial_token(), NULL};
    struct process_trial trial;

    (void)state;
    process_trial_begin(host, &trial, arguments);
    trial_host_let_spare_prepare(host);
    for (double until = trial_now() + TRIAL_SOON_SECONDS;
         count_processes() == 0 && trial_now() < until;)
        trial_host_run_for(host, 0.01);
    assert_int_equal(count_processes(), 1);
    trial_host_free(host);
    assert_true(trial.ended);
    assert_true(trial.end.killed);
    assert_int_equal(count_processes(), 0);
}

static void test_many_runs_leave_no_descriptor_and_no_child(void **state)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;
    int before;

    (void)state;
    process_trial_execute(host, &trial, "pass", 0);
    trial_host_let_spare_prepare(host);
    before = count_entries("/proc/self/fd");
    for (int i = 0; i < 30; i++)
        process_trial_execute(host, &trial, hostile[i % 2].script, 0);
    for (double until = trial_now() + TRIAL_SOON_SECONDS;
         count_entries("/proc/self/fd") > before && trial_now() < until;)
        trial_host_let_spare_prepare(host);
    assert_true(count_entries("/proc/self/fd") <= before); /* fewer is never wrong */
    trial_host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_process_inherits_a_descriptor),
        cmocka_unit_test(test_program_has_no_capabilities),
        cmocka_unit_test(test_program_cannot_write_to_the_kernel),
        cmocka_unit_test(test_no_level_has_keys_or_user_namespaces),
        cmocka_unit_test(test_shared_memory_is_private_and_bounded),
        cmocka_unit_test(test_program_cannot_leave_its_cgroup),
        cmocka_unit_test(test_nothing_survives_in_a_pid_namespace),
        cmocka_unit_test(test_nothing_survives_in_a_cgroup),
        cmocka_unit_test(test_nothing_survives_under_a_subreaper),
        cmocka_unit_test(test_signals_cannot_leave_the_tree),
        cmocka_unit_test(test_limits_of_others_cannot_be_set),
        cmocka_unit_test(test_host_that_stops_ends_what_runs),
        cmocka_unit_test(test_many_runs_leave_no_descriptor_and_no_child),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
