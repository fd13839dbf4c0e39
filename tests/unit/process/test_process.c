/* Processes on a real loop with the real runner, at each level of containment that exists here. */
#include "environments/process/process.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/process/cgroup_tree.h"
#include "environments/process/landlock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    KEPT_BYTES = 4096,
    NOBODY = 65533, /* a user that has nothing */
};

struct fixture {
    struct ev_loop *loop;
    struct process_host *host;
};

struct execution {
    struct process process;
    bool is_interrupted; /* when it has written something */
    struct process_end end;
    size_t missing;
    bool ended;
    double ended_at;
    uint64_t bytes;
    char output[KEPT_BYTES + 1];
    size_t length;
    ev_timer kill;
    ev_timer bound;
    struct ev_loop *loop;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void on_output(struct process *process, enum process_stream stream, const char *data,
                      size_t length)
{
    struct execution *execution = CONTAINER_OF(process, struct execution, process);
    size_t room = KEPT_BYTES - execution->length;

    (void)stream;
    execution->bytes += length;
    if (length > room)
        length = room;
    memcpy(execution->output + execution->length, data, length);
    execution->length += length;
    if (execution->is_interrupted && execution->bytes == length)
        process_interrupt(process);
}

static void on_ended(struct process *process, const struct process_end *end)
{
    struct execution *execution = CONTAINER_OF(process, struct execution, process);

    assert_false(execution->ended);
    execution->ended = true;
    execution->ended_at = now();
    execution->end = *end;
    execution->missing = json_array_size(end->receipt.missing);
    ev_break(execution->loop, EVBREAK_ALL);
}

static void on_kill(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    process_kill(&CONTAINER_OF(timer, struct execution, kill)->process);
}

static void on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("a process did not end within its bound");
}

static const struct process_limits limits = {
    .memory = 256 << 20, .processes = 64, .file_size = 1 << 30};

static int execution_start(struct fixture *fixture, struct execution *execution,
                           const struct process_command *command, struct error *err)
{
    *execution = (struct execution){.process = {.output = on_output, .ended = on_ended},
                                    .loop = fixture->loop};
    return process_start(fixture->host, &execution->process, command, err);
}

static void execution_wait(struct fixture *fixture, struct execution *execution, double kill_after)
{
    ev_now_update(fixture->loop);
    ev_timer_init(&execution->kill, on_kill, kill_after > 0 ? kill_after : 1e6, 0.);
    ev_timer_start(fixture->loop, &execution->kill);
    ev_timer_init(&execution->bound, on_bound, 20., 0.);
    ev_timer_start(fixture->loop, &execution->bound);
    while (!execution->ended)
        ev_run(fixture->loop, 0);
    ev_timer_stop(fixture->loop, &execution->kill);
    ev_timer_stop(fixture->loop, &execution->bound);
    execution->output[execution->length] = '\0';
}

/* How long the processes of this test sleep: other tests run at the same time. */
static const char *token(void)
{
    static char text[16];

    snprintf(text, sizeof text, "%ld", 100000 + (long)getpid());
    return text;
}

/* SCRIPT with this test's token where it says TOKEN; owned by the caller. */
static char *with_token(const char *script)
{
    const char *at = strstr(script, "TOKEN");

    if (!at)
        return memory_copy_string(script);
    return memory_format("%.*s%s%s", (int)(at - script), script, token(), at + strlen("TOKEN"));
}

static void execute(struct fixture *fixture, struct execution *execution, const char *script,
                    double kill_after)
{
    AUTO_FREE char *named = with_token(script);
    const char *const arguments[] = {"/usr/bin/python3", "-I", "-S", "-c", named, NULL};
    const char *const variables[] = {"PATH=/usr/bin:/bin", "MARK=yes", NULL};
    struct error err = ERROR_INIT;

    if (execution_start(fixture, execution,
                        &(struct process_command){.arguments = arguments,
                                                  .environment = variables,
                                                  .directory = "/",
                                                  .limits = limits},
                        &err) < 0)
        fail_msg("%s", err.message);
    execution_wait(fixture, execution, kill_after);
}

/* Runs TRY in a process of its own, which it may spoil; it has to return 0. */
static void run_in_child(int (*try)(void))
{
    int status = -1;
    pid_t child;

    /* What a test before this one has left would be waited for below. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    child = fork();
    if (child == 0) {
        alarm(20);
        _exit(try());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    while (waitpid(-1, NULL, 0) > 0) /* its trees end with it, and are left to us */
        ;
}

static struct fixture *fixture_new(unsigned layers)
{
    struct fixture *fixture = NEW(struct fixture);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.wanted = layers}};
    struct error err = ERROR_INIT;

    fixture->loop = ev_loop_new(0);
    settings.loop = fixture->loop;
    fixture->host = process_host_new(&settings, &err);
    if (!fixture->host)
        fail_msg("%s", err.message);
    return fixture;
}

static void let_loop_run(struct fixture *fixture, double seconds)
{
    double until = now() + seconds;

    while (now() < until) {
        ev_run(fixture->loop, EVRUN_NOWAIT);
        usleep(1000);
    }
}

static void fixture_free(struct fixture *fixture)
{
    process_host_stop(fixture->host);
    while (!process_host_is_idle(fixture->host))
        let_loop_run(fixture, 0.005);
    process_host_free(fixture->host);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, no zombie */
    assert_int_equal(errno, ECHILD);
    ev_loop_destroy(fixture->loop);
    free(fixture);
}

static void let_spare_prepare(struct fixture *fixture)
{
    let_loop_run(fixture, 0.2);
}

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
        if (strncmp(arguments, "sleep ", 6) == 0 && strstr(arguments, token()))
            count++;
        if (strncmp(arguments, "/bin/sleep ", 11) == 0 && strstr(arguments, token()))
            count++;
    }
    closedir(proc);
    return count;
}

static int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void test_output_and_status_come_back(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    execute(fixture, &execution,
            "import os; print(os.environ['MARK'], os.getpid(), flush=True); os._exit(7)", 0);
    assert_true(execution.end.reported);
    assert_int_equal(WEXITSTATUS(execution.end.wait_status), 7);
    assert_string_equal(execution.end.failure, "");
    assert_string_equal(execution.output, execution.end.receipt.layers & LAYER_PID_NAMESPACE
                                              ? "yes 2\n"
                                              : execution.output);
    assert_true(execution.end.cpu_seconds > 0);
    assert_true(execution.end.peak_memory > 1 << 20);
    fixture_free(fixture);
}

static void test_signal_is_reported_as_it_is(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    execute(fixture, &execution, "import os; os.kill(os.getpid(), 11)", 0);
    assert_true(execution.end.reported);
    assert_true(WIFSIGNALED(execution.end.wait_status));
    assert_int_equal(WTERMSIG(execution.end.wait_status), SIGSEGV);
    assert_false(execution.end.killed);
    fixture_free(fixture);
}

static void check_interrupt(unsigned layers)
{
    struct fixture *fixture = fixture_new(layers);
    const char *const arguments[] = {
        "/usr/bin/python3", "-uISc",
        "import subprocess, time\nchild = subprocess.Popen(['sleep', '20'])\n"
        "try: print('ready'); time.sleep(20)\n"
        "finally: print(f'flushed {child.poll()}\\n', end='')\n", /* at once, among other output */
        NULL};
    const char *const variables[] = {"PATH=/usr/bin:/bin", NULL};
    struct execution execution;
    struct error err = ERROR_INIT;

    assert_int_equal(execution_start(fixture, &execution,
                                     &(struct process_command){.arguments = arguments,
                                                               .environment = variables,
                                                               .directory = "/",
                                                               .limits = limits},
                                     &err),
                     0);
    process_interrupt(&execution.process); /* there is no program yet */
    execution.is_interrupted = true;
    execution_wait(fixture, &execution, 0);
    process_interrupt(&execution.process); /* nor is there one now */
    assert_non_null(strstr(execution.output, "flushed None\n"));
    assert_non_null(strstr(execution.output, "KeyboardInterrupt"));
    assert_true(execution.end.reported && !execution.end.killed);
    assert_true(WIFSIGNALED(execution.end.wait_status));
    assert_int_equal(WTERMSIG(execution.end.wait_status), SIGINT);
    fixture_free(fixture);
}

static void test_an_interrupted_program_shows_where_it_stood(void **state)
{
    (void)state;
    check_interrupt(LAYERS_OF_TREES);
    check_interrupt(LAYER_LANDLOCK);
}

static void test_the_end_says_what_held_the_tree(void **state)
{
    static const unsigned wanted[] = {LAYERS_OF_TREES, LAYER_LANDLOCK, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        struct fixture *fixture = fixture_new(wanted[i]);
        const struct process_receipt expected = process_host_receipt(fixture->host, NULL);
        struct execution execution;

        execute(fixture, &execution, "pass", 0);
        assert_int_equal(execution.end.receipt.layers & ~wanted[i], 0);
        assert_int_equal(execution.end.receipt.layers, expected.layers);
        assert_int_equal(execution.end.receipt.limiter, expected.limiter);
        assert_int_equal(execution.missing, json_array_size(expected.missing));
        fixture_free(fixture);
    }
}

static void test_what_a_killed_program_has_used_is_known(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    execute(fixture, &execution, "while True: pass", 2);
    assert_true(execution.end.killed);
    assert_true(execution.end.run_seconds > 0.3 && execution.end.run_seconds < 20);
    assert_true(execution.end.cpu_seconds > 0 && execution.end.cpu_seconds < 20);
    assert_true(execution.end.peak_memory > 1 << 20);
    fixture_free(fixture);
}

static void test_program_that_cannot_be_executed_says_why(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    const char *const arguments[] = {"/nonexistent/python9", NULL};
    const char *const variables[] = {NULL};
    struct execution execution;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(execution_start(fixture, &execution,
                                     &(struct process_command){.arguments = arguments,
                                                               .environment = variables,
                                                               .directory = "/",
                                                               .limits = limits},
                                     &err),
                     0);
    execution_wait(fixture, &execution, 0);
    assert_false(execution.end.reported);
    assert_string_equal(execution.end.failure,
                        "cannot execute /nonexistent/python9: No such file or directory");
    fixture_free(fixture);
}

/* In a child, whose lowest free descriptors are those that a runner gets. */
static int run_with_few_descriptors(void)
{
    struct fixture *fixture;
    struct execution execution;

    close_range(3, ~0U, 0);
    setenv("LIBEV_FLAGS", "2", 1); /* poll, which needs no descriptor of its own */
    fixture = fixture_new(LAYERS_OF_TREES);
    execute(fixture, &execution, "print(1)", 0);
    return strcmp(execution.output, "1\n");
}

static void test_the_runner_is_found_among_few_descriptors(void **state)
{
    (void)state;
    run_in_child(run_with_few_descriptors);
}

static void test_a_runner_that_says_nothing_is_a_failure(void **state)
{
    struct fixture *fixture = NEW(struct fixture);
    struct process_host_settings settings = {.runner_path = "/bin/true"};
    struct execution execution;
    struct error err = ERROR_INIT;

    (void)state;
    settings.loop = fixture->loop = ev_loop_new(0);
    fixture->host = process_host_new(&settings, &err);
    execute(fixture, &execution, "pass", 0);
    assert_string_equal(execution.end.failure, "the runner ended before the program started");
    fixture_free(fixture);
}

static void test_a_script_is_seen_by_its_process_only(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    char directory[] = "/tmp/test-script-XXXXXX";
    char target[64], seen[16] = "";
    const char *const arguments[] = {
        "/bin/sh", "-c",
        "exec 2>&-; cat $0; mv $0 x; rm -f $0; echo no >$0; >y; mv -f y $0; cat $0", target, NULL};
    const char *const variables[] = {NULL};
    struct execution execution;
    struct error err = ERROR_INIT;
    FILE *file;

    (void)state;
    let_spare_prepare(fixture);
    if (!(process_host_receipt(fixture->host, NULL).layers & LAYER_PID_NAMESPACE)) {
        fixture_free(fixture);
        skip();
    }
    assert_non_null(mkdtemp(directory));
    snprintf(target, sizeof target, "%s/target", directory);
    file = fopen(target, "w");
    fputs("others", file);
    fclose(file);
    assert_int_equal(execution_start(fixture, &execution,
                                     &(struct process_command){.arguments = arguments,
                                                               .environment = variables,
                                                               .directory = directory,
                                                               .code = "mine",
                                                               .code_length = 4,
                                                               .script = target,
                                                               .limits = limits},
                                     &err),
                     0);
    execution_wait(fixture, &execution, 0);
    assert_string_equal(execution.output, "minemine");
    file = fopen(target, "r");
    assert_non_null(fgets(seen, sizeof seen, file));
    fclose(file);
    assert_string_equal(seen, "others");
    unlink(target);
    snprintf(target, sizeof target, "%s/y", directory);
    unlink(target);
    assert_int_equal(rmdir(directory), 0);
    fixture_free(fixture);
}

static void test_input_is_what_the_program_reads(void **state)
{
    const char *const arguments[] = {"/bin/cat", NULL};
    const char *const variables[] = {NULL};
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    int input = memfd_create("input", MFD_CLOEXEC);
    struct execution execution;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(write(input, "a picture", 9), 9);
    assert_int_equal(lseek(input, 0, SEEK_SET), 0);
    assert_int_equal(execution_start(fixture, &execution,
                                     &(struct process_command){.arguments = arguments,
                                                               .environment = variables,
                                                               .directory = "/",
                                                               .input = input,
                                                               .limits = limits},
                                     &err),
                     0);
    close(input);
    execution_wait(fixture, &execution, 0);
    assert_int_equal(execution.end.wait_status, 0);
    assert_string_equal(execution.output, "a picture");
    fixture_free(fixture);
}

static void test_memory_limit_ends_the_program(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    execute(fixture, &execution, "x = bytearray(600 << 20); print(len(x))", 0);
    assert_int_equal(execution.end.reported && WIFEXITED(execution.end.wait_status) &&
                         WEXITSTATUS(execution.end.wait_status) == 0,
                     0);
    if (execution.end.receipt.limiter != LIMITER_RLIMITS)
        assert_true(execution.end.out_of_memory);
    else
        assert_non_null(strstr(execution.output, "MemoryError"));
    fixture_free(fixture);
}

static void test_output_flood_is_counted_exactly(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    execute(fixture, &execution,
            "import os\nb = b'x' * 65536\nfor i in range(1600):\n n = 0\n"
            " while n < len(b): n += os.write(1 + i % 2, b[n:])",
            0);
    assert_int_equal(execution.bytes, 1600 * 65536);
    fixture_free(fixture);
}

static void test_no_process_inherits_a_descriptor(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    execute(fixture, &execution,
            "import os\nfound = []\nfor fd in range(1024):\n"
            " try: os.fstat(fd); found.append(fd)\n except OSError: pass\nprint(found)",
            0);
    assert_string_equal(execution.output, "[0, 1, 2]\n");
    fixture_free(fixture);
}

static void check_capabilities(unsigned layers)
{
    struct fixture *fixture = fixture_new(layers);
    struct execution execution;

    execute(fixture, &execution,
            "import os\nmay_empty = os.getuid() == 0 or os.getpid() == 2\n"
            "for line in open('/proc/self/status'):\n"
            " if line[:6] == 'CapBnd' and not may_empty: continue\n"
            " if line[:3] == 'Cap' and int(line.split()[1], 16): print(line)\n"
            " if line[:6] == 'NoNewP': print(line.split()[1])",
            0);
    assert_string_equal(execution.output, "1\n");
    fixture_free(fixture);
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
        struct fixture *fixture;
        struct execution execution;

        if (layers[i] == LAYER_LANDLOCK && geteuid() != 0) /* has no mounts of its own */
            continue;
        fixture = fixture_new(layers[i]);
        execute(fixture, &execution, writes_to_the_kernel, 0);
        assert_string_equal(execution.output, "[] True\n");
        fixture_free(fixture);
    }
}

static void test_no_level_has_keys_or_user_namespaces(void **state)
{
    static const unsigned layers[] = {LAYERS_OF_TREES, LAYER_PID_NAMESPACE, LAYER_LANDLOCK, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
        struct fixture *fixture = fixture_new(layers[i]);
        struct execution execution;

        execute(
            fixture, &execution,
            "import ctypes, threading\nlibc = ctypes.CDLL(None)\n"
            "print(libc.syscall(248, b'user', b'a', b'b', 1, -3), libc.syscall(250, 0, -3, 1),\n"
            "      libc.unshare(0x10000000), libc.syscall(56, 0x10000011, 0, 0, 0, 0))\n"
            "threading.Thread(target=print, args=['thread']).start()\n",
            0);
        assert_string_equal(execution.output, "-1 -1 -1 -1\nthread\n");
        fixture_free(fixture);
    }
}

static void test_shared_memory_is_private_and_bounded(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    AUTO_FREE char *path = memory_format("/dev/shm/test-%s", token());
    struct execution execution;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    (void)state;
    close(fd);
    execute(fixture, &execution,
            "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
            "seen = os.listdir('/dev/shm')\nfd = os.open('/dev/shm/mine', os.O_CREAT | os.O_RDWR)\n"
            "size = os.statvfs('/dev/shm'); print(seen, size.f_blocks * size.f_frsize >> 20)\n"
            "print(libc.shmget(0x7079, 4096, 0o1600) >= 0)\n",
            0);
    unlink(path);
    if (execution.end.receipt.layers & LAYER_PID_NAMESPACE) {
        assert_string_equal(execution.output, "[] 256\nTrue\n");
        assert_int_equal(shmget(0x7079, 4096, 0), -1);
    }
    fixture_free(fixture);
}

static void test_program_cannot_leave_its_cgroup(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    (void)state;
    if (process_host_receipt(fixture->host, NULL).limiter == LIMITER_RLIMITS) {
        fixture_free(fixture);
        skip();
    }
    execute(fixture, &execution,
            "import ctypes, glob, os\nlibc = ctypes.CDLL(None)\n"
            "print(libc.unshare(0x10000000), glob.glob('/sys/fs/cgroup/*'),"
            " libc.umount2(b'/sys/fs/cgroup', 2))",
            0);
    assert_string_equal(execution.output, "-1 [] -1\n");
    fixture_free(fixture);
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
    struct fixture *fixture = fixture_new(layers);

    let_spare_prepare(fixture);
    for (size_t i = 0; i < count; i++) {
        struct execution execution;
        double began = now();

        execute(fixture, &execution, hostile[i].script, hostile[i].kill_after);
        if (execution.ended_at - began > hostile[i].kill_after + 1.5)
            fail_msg("%s took %.2f s", hostile[i].name, execution.ended_at - began);
        if (execution.end.survivors || count_processes() > 0)
            fail_msg("%s left something behind", hostile[i].name);
        if (execution.end.killed != (hostile[i].kill_after > 0))
            fail_msg("%s: killed is %d", hostile[i].name, execution.end.killed);
    }
    fixture_free(fixture);
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
        struct fixture *fixture;
        struct execution execution;

        if (layers[i] == LAYER_LANDLOCK && !landlock_can_scope_signals())
            continue;
        fixture = fixture_new(layers[i]);
        execute(fixture, &execution,
                "import os, signal\nsignal.signal(15, signal.SIG_IGN)\n"
                "for target in (-1, os.getppid()):\n"
                " try: os.kill(target, 15); print('sent')\n"
                " except OSError as e: print(e.strerror)",
                0);
        assert_true(execution.end.reported);
        assert_int_equal(execution.end.wait_status, 0);
        fixture_free(fixture);
    }
}

static void test_limits_of_others_cannot_be_set(void **state)
{
    struct fixture *fixture = fixture_new(LAYER_LANDLOCK);
    struct execution execution;

    (void)state;
    execute(fixture, &execution,
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
    assert_string_equal(execution.output, "refused\nrefused\nrefused\nrefused\nrefused\n");
    fixture_free(fixture);
}

/* From now on this process can have nothing watched by epoll, as when its user's quota is used up.
 */
static void refuse_watches(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = ARRAY_SIZE(lines), .filter = lines};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int begin_without_watches(void)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    refuse_watches();
    execute(fixture, &execution, "print(1)", 0);
    return execution.end.failure[0] ? 0 : 1;
}

static int go_on_without_watches(void)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;

    let_spare_prepare(fixture);
    refuse_watches();
    execute(fixture, &execution, "print(1)", 0);
    return execution.end.failure[0] ? 0 : 1;
}

static void test_a_run_that_cannot_be_followed_is_a_failure(void **state)
{
    (void)state;
    run_in_child(begin_without_watches);
    run_in_child(go_on_without_watches);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    close(fd);
    return written;
}

/* From now on this process is root of a user namespace, below which there may be MOST others. */
static bool limit_namespaces(const char *most)
{
    char users[64];
    char groups[64];

    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", users) && write_file("/proc/self/gid_map", groups) &&
           write_file("/proc/sys/user/max_user_namespaces", most);
}

/* A process that holds a user namespace. */
static pid_t hold_namespace(void)
{
    int ready[2];
    char byte;
    pid_t holder;

    if (pipe(ready) < 0)
        return -1;
    holder = fork();
    if (holder == 0) {
        (void)!unshare(CLONE_NEWUSER);
        close(ready[1]);
        pause();
    }
    close(ready[1]);
    (void)!read(ready[0], &byte, 1); /* its end */
    close(ready[0]);
    return holder;
}

/* All namespaces are in use, and then one is free again. */
static int run_while_namespaces_are_used_up(void)
{
    struct execution execution;
    struct fixture *fixture;
    pid_t holder;

    if (!limit_namespaces("1"))
        return 0; /* none of these here */
    holder = hold_namespace();
    fixture = fixture_new(LAYERS_OF_TREES);
    execute(fixture, &execution, "print(1)", 0);
    if (!strstr(execution.end.failure, "No space left") || execution.bytes > 0)
        return 1;
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    for (int i = 0; i < 50; i++) { /* the kernel frees namespaces later */
        execute(fixture, &execution, "print(1)", 0);
        if (!execution.end.failure[0])
            break;
        usleep(100000);
    }
    return execution.end.receipt.layers & LAYER_PID_NAMESPACE ? 0 : 2;
}

static int run_without_namespaces(void)
{
    struct execution execution;
    struct fixture *fixture;

    if (!limit_namespaces("0"))
        return 0;
    fixture = fixture_new(LAYERS_OF_TREES);
    execute(fixture, &execution, "print(1)", 0);
    return execution.end.failure[0] || execution.end.receipt.layers & LAYER_PID_NAMESPACE;
}

static void test_a_shortage_weakens_nothing(void **state)
{
    (void)state;
    run_in_child(run_while_namespaces_are_used_up);
}

static void test_a_setting_weakens(void **state)
{
    (void)state;
    run_in_child(run_without_namespaces);
}

/* As many descriptors are on their way as this user may have: another process of the user has sent
 * them. */
static bool fill_flight(void)
{
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(60 * sizeof(int))];
    } ancillary = {.head = {CMSG_LEN(60 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec part = {.iov_base = (char *)"x", .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    int ends[2];

    if (setresuid(NOBODY, NOBODY, NOBODY) < 0 || setrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
        return false;
    while (sendmsg(ends[0], &message, MSG_DONTWAIT) > 0)
        ;
    return errno == ETOOMANYREFS;
}

/* Where a user may have 64 on the way, and has. */
static int run_while_descriptors_are_in_flight(void)
{
    struct fixture *fixture;
    struct execution execution;

    if (geteuid() != 0)
        return 0; /* it would spoil the user's own */
    if (!fill_flight())
        return 1;
    if (access(getenv("RUNNER"), X_OK) < 0)
        return 0; /* it is built where another user may not look */
    fixture = fixture_new(LAYERS_OF_TREES);
    execute(fixture, &execution, "print(1)", 0);
    return strcmp(execution.output, "1\n") != 0 || execution.end.failure[0];
}

static int count_what_may_be_sent(void)
{
    struct rlimit limit = {.rlim_cur = 512, .rlim_max = 4096};

    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1;
    (void)fixture_new(LAYERS_OF_TREES);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur != limit.rlim_max;
}

static void test_descriptors_in_flight_do_not_matter(void **state)
{
    (void)state;
    run_in_child(run_while_descriptors_are_in_flight);
    run_in_child(count_what_may_be_sent);
}

static void test_weaker_containment_is_refused_unless_allowed(void **state)
{
    struct fixture *fixture = NEW(struct fixture);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.required = LAYERS_OF_TREES}};
    const char *const arguments[] = {"/bin/true", NULL};
    const char *const variables[] = {NULL};
    struct execution execution;
    struct error err = ERROR_INIT;

    (void)state;
    settings.loop = fixture->loop = ev_loop_new(0);
    fixture->host = process_host_new(&settings, &err);
    assert_non_null(fixture->host);
    assert_int_equal(execution_start(fixture, &execution,
                                     &(struct process_command){.arguments = arguments,
                                                               .environment = variables,
                                                               .directory = "/",
                                                               .limits = limits},
                                     &err),
                     -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(err.message, "best-effort"));
    fixture_free(fixture);
}

static void test_host_that_stops_ends_what_runs(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    const char *const arguments[] = {"/bin/sleep", token(), NULL};
    const char *const variables[] = {NULL};
    struct execution execution;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(execution_start(fixture, &execution,
                                     &(struct process_command){.arguments = arguments,
                                                               .environment = variables,
                                                               .directory = "/",
                                                               .limits = limits},
                                     &err),
                     0);
    let_spare_prepare(fixture);
    for (double until = now() + 10; count_processes() == 0 && now() < until;)
        let_loop_run(fixture, 0.01);
    assert_int_equal(count_processes(), 1);
    fixture_free(fixture);
    assert_true(execution.ended);
    assert_true(execution.end.killed);
    assert_int_equal(count_processes(), 0);
}

static void test_many_runs_leave_no_descriptor_and_no_child(void **state)
{
    struct fixture *fixture = fixture_new(LAYERS_OF_TREES);
    struct execution execution;
    int before;

    (void)state;
    execute(fixture, &execution, "pass", 0);
    let_spare_prepare(fixture);
    before = count_descriptors();
    for (int i = 0; i < 30; i++)
        execute(fixture, &execution, hostile[i % 2].script, 0);
    let_spare_prepare(fixture);
    assert_int_equal(count_descriptors(), before);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_status_come_back),
        cmocka_unit_test(test_signal_is_reported_as_it_is),
        cmocka_unit_test(test_an_interrupted_program_shows_where_it_stood),
        cmocka_unit_test(test_the_end_says_what_held_the_tree),
        cmocka_unit_test(test_what_a_killed_program_has_used_is_known),
        cmocka_unit_test(test_program_that_cannot_be_executed_says_why),
        cmocka_unit_test(test_the_runner_is_found_among_few_descriptors),
        cmocka_unit_test(test_a_runner_that_says_nothing_is_a_failure),
        cmocka_unit_test(test_a_script_is_seen_by_its_process_only),
        cmocka_unit_test(test_input_is_what_the_program_reads),
        cmocka_unit_test(test_memory_limit_ends_the_program),
        cmocka_unit_test(test_output_flood_is_counted_exactly),
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
        cmocka_unit_test(test_a_run_that_cannot_be_followed_is_a_failure),
        cmocka_unit_test(test_a_shortage_weakens_nothing),
        cmocka_unit_test(test_a_setting_weakens),
        cmocka_unit_test(test_descriptors_in_flight_do_not_matter),
        cmocka_unit_test(test_weaker_containment_is_refused_unless_allowed),
        cmocka_unit_test(test_host_that_stops_ends_what_runs),
        cmocka_unit_test(test_many_runs_leave_no_descriptor_and_no_child),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
