/* What a call of run_python costs beside plain `python3 script.py`.
 *
 *     bench_start PROGRAM [--json] [--rounds N]
 *
 * Both are measured in the same run, in turn, so that what else the machine does slows both alike:
 * "ours" from the first byte of the request to the last byte of the answer of a server on stdio,
 * "plain" from posix_spawn to the end of the script's output and its wait status, with the very
 * interpreter that the server uses. What the server costs is the difference. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT "print('hello')\n"

enum {
    ROUNDS = 300,
    WARM_UP = 5,
    PINGS = 3000,
    CALLS_BEFORE_MEMORY = 100,
    GAP_MICROSECONDS = 12000, /* between starts, as a model leaves it time and more */
    PATH_BYTES = 4096,
};

extern char **environ;

struct server {
    pid_t pid;
    int in;
    FILE *out;
    char *line; /* owned; the newest answer */
    size_t capacity;
};

struct samples {
    double *milliseconds; /* owned */
    size_t count;
};

struct report {
    struct samples ours;
    struct samples plain;
    struct samples ping;
    long memory_idle_kib;
    long memory_used_kib;
    char interpreter[PATH_BYTES];
    char held_by[64];
};

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("bench_start: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static double now_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Starts ARGV with its stdin from IN (or /dev/null for -1) and its stdout to OUT. */
static pid_t spawn(char *const *argv, int in, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int error;

    posix_spawn_file_actions_init(&actions);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    error = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        fail("cannot start %s: %s", argv[0], strerror(error));
    return pid;
}

static void make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        fail("pipe: %s", strerror(errno));
}

static struct server server_start(char *program)
{
    struct server server = {0};
    char *argv[] = {program, NULL};
    int to_server[2];
    int from_server[2];

    make_pipe(to_server);
    make_pipe(from_server);
    server.pid = spawn(argv, to_server[0], from_server[1]);
    close(to_server[0]);
    close(from_server[1]);
    server.in = to_server[1];
    server.out = fdopen(from_server[0], "r");
    if (!server.out)
        fail("fdopen: %s", strerror(errno));
    return server;
}

static void server_stop(struct server *server)
{
    int status;

    close(server->in);
    if (waitpid(server->pid, &status, 0) < 0 || status != 0)
        fail("the server ended with wait status %d", status);
    fclose(server->out);
    free(server->line);
}

static void server_send(struct server *server, const char *text)
{
    size_t length = strlen(text);

    if (write(server->in, text, length) != (ssize_t)length)
        fail("cannot write to the server: %s", strerror(errno));
}

/* A notification, such as the one that a server sends when it knows its Pythons' packages. Told by
 * how our server writes one: parsing would be measured with the answer. */
static bool is_notification(const char *line)
{
    static const char begin[] = "{\"jsonrpc\":\"2.0\",\"method\":";

    return strncmp(line, begin, sizeof begin - 1) == 0;
}

/* Reads the next answer. */
static void server_receive(struct server *server)
{
    do {
        if (getline(&server->line, &server->capacity, server->out) < 0)
            fail("the server closed its output");
    } while (is_notification(server->line));
}

/* The `result` of the newest answer. New reference. */
static json_t *server_result(struct server *server)
{
    json_error_t error;
    json_t *answer = json_loads(server->line, 0, &error);
    json_t *result = json_incref(json_object_get(answer, "result"));

    if (!result)
        fail("no result: %s", server->line);
    json_decref(answer);
    return result;
}

static double exchange(struct server *server, const char *text)
{
    double begin = now_milliseconds();

    server_send(server, text);
    server_receive(server);
    return now_milliseconds() - begin;
}

/* A line that calls run_python with CODE. Owned by the caller. */
static char *call_line(const char *code)
{
    json_t *call =
        json_pack("{s:s, s:i, s:s, s:{s:s, s:{s:s}}}", "jsonrpc", "2.0", "id", 1, "method",
                  "tools/call", "params", "name", "run_python", "arguments", "code", code);
    char *text = json_dumps(call, JSON_COMPACT);
    char *line;

    if (asprintf(&line, "%s\n", text) < 0)
        fail("out of memory");
    free(text);
    json_decref(call);
    return line;
}

static void initialize(struct server *server)
{
    server_send(server, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
                        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                        "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    server_receive(server);
}

/* Asks the server for its interpreter, and how it holds a run. */
static void look(struct server *server, struct report *report)
{
    char *line = call_line("import sys; print(sys.executable, end='')");
    const char *interpreter = NULL;
    const char *held_by = NULL;
    json_t *result;

    exchange(server, line);
    result = server_result(server);
    if (json_unpack(result, "{s:{s:{s:s, s:{s:s}}}}", "_meta", "pyexecd/result", "stdout",
                    &interpreter, "containment", "process_tree", &held_by) < 0)
        fail("unexpected result: %s", server->line);
    snprintf(report->interpreter, sizeof report->interpreter, "%s", interpreter);
    snprintf(report->held_by, sizeof report->held_by, "%s", held_by);
    json_decref(result);
    free(line);
}

static void check_hello(struct server *server)
{
    json_t *result = server_result(server);
    const char *output = NULL;

    if (json_unpack(result, "{s:{s:{s:s}}}", "_meta", "pyexecd/result", "stdout", &output) < 0 ||
        strcmp(output, "hello\n") != 0)
        fail("unexpected result: %s", server->line);
    json_decref(result);
}

static double run_plain(char *interpreter, char *script)
{
    char *argv[] = {interpreter, script, NULL};
    double begin = now_milliseconds();
    char output[64];
    size_t length = 0;
    ssize_t count;
    int ends[2];
    int status;
    pid_t pid;

    make_pipe(ends);
    pid = spawn(argv, -1, ends[1]);
    close(ends[1]);
    while ((count = read(ends[0], output + length, sizeof output - length)) > 0)
        length += (size_t)count;
    waitpid(pid, &status, 0);
    close(ends[0]);
    if (status != 0 || length != strlen("hello\n"))
        fail("%s %s ended with wait status %d", interpreter, script, status);
    return now_milliseconds() - begin;
}

static void samples_init(struct samples *samples, size_t capacity)
{
    *samples = (struct samples){.milliseconds = calloc(capacity, sizeof(double))};
    if (!samples->milliseconds)
        fail("out of memory");
}

static void samples_add(struct samples *samples, double milliseconds)
{
    samples->milliseconds[samples->count++] = milliseconds;
}

static int compare(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return (*a > *b) - (*a < *b);
}

static double percentile(struct samples *samples, double share)
{
    qsort(samples->milliseconds, samples->count, sizeof(double), compare);
    return samples->milliseconds[(size_t)floor(share * (double)(samples->count - 1))];
}

/* Both in turn, each first in every other round. */
static void measure_starts(struct server *server, struct report *report, char *script, int rounds)
{
    char *line = call_line(SCRIPT);

    for (int i = -WARM_UP; i < rounds; i++) {
        double ours = 0;
        double plain = 0;

        for (int turn = 0; turn < 2; turn++) {
            usleep(GAP_MICROSECONDS);
            if ((turn + i) % 2 == 0)
                ours = exchange(server, line);
            else
                plain = run_plain(report->interpreter, script);
        }
        check_hello(server);
        if (i < 0)
            continue;
        samples_add(&report->ours, ours);
        samples_add(&report->plain, plain);
    }
    free(line);
}

static void measure_ping(struct server *server, struct samples *samples)
{
    for (int i = 0; i < PINGS; i++)
        samples_add(samples,
                    exchange(server, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"));
}

static long memory_kib(pid_t pid)
{
    char path[64];
    char line[256];
    long kib = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (!file || kib < 0)
        fail("cannot read %s", path);
    fclose(file);
    return kib;
}

/* In a server of its own: what it needs before the first call, and after many. */
static void measure_memory(char *program, struct report *report)
{
    struct server server = server_start(program);
    char *line = call_line(SCRIPT);

    initialize(&server);
    report->memory_idle_kib = memory_kib(server.pid);
    for (int i = 0; i < CALLS_BEFORE_MEMORY; i++)
        exchange(&server, line);
    report->memory_used_kib = memory_kib(server.pid);
    free(line);
    server_stop(&server);
}

static void print_row(const char *name, struct samples *samples)
{
    printf("%-34s %9.3f ms %9.3f ms\n", name, percentile(samples, 0.5), percentile(samples, 0.95));
}

static void print_table(struct report *report)
{
    double ours = percentile(&report->ours, 0.5);
    double plain = percentile(&report->plain, 0.5);

    printf("%zu rounds in turn; %s; runs held by: %s\n\n", report->ours.count, report->interpreter,
           report->held_by);
    printf("%-34s %12s %12s\n", "", "p50", "p95");
    print_row("run_python over stdio", &report->ours);
    print_row("python3 script.py, posix_spawn", &report->plain);
    printf("%-34s %9.3f ms %9.3f ms   %.2f times plain\n", "the server's own cost", ours - plain,
           percentile(&report->ours, 0.95) - percentile(&report->plain, 0.95), ours / plain);
    print_row("ping", &report->ping);
    printf("%-34s %9.1f MiB\n", "memory, idle", (double)report->memory_idle_kib / 1024);
    printf("%-34s %9.1f MiB\n", "memory, after 100 calls", (double)report->memory_used_kib / 1024);
}

static json_t *quantiles(struct samples *samples)
{
    return json_pack("{s:f, s:f}", "p50", percentile(samples, 0.5), "p95",
                     percentile(samples, 0.95));
}

static void print_json(struct report *report)
{
    double ours = percentile(&report->ours, 0.5);
    double plain = percentile(&report->plain, 0.5);
    json_t *text = json_pack(
        "{s:i, s:s, s:s, s:o, s:o, s:f, s:f, s:o, s:{s:f, s:f}}", "rounds", (int)report->ours.count,
        "interpreter", report->interpreter, "process_tree", report->held_by, "run_python_ms",
        quantiles(&report->ours), "plain_ms", quantiles(&report->plain), "own_cost_ms",
        ours - plain, "times_plain", ours / plain, "ping_ms", quantiles(&report->ping),
        "memory_mib", "idle", (double)report->memory_idle_kib / 1024, "after_100_calls",
        (double)report->memory_used_kib / 1024);

    json_dumpf(text, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(text);
}

/* Writes the script to a temporary file, whose PATH ends in XXXXXX. */
static void write_script(char *path)
{
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, SCRIPT, strlen(SCRIPT)) != (ssize_t)strlen(SCRIPT))
        fail("cannot write %s: %s", path, strerror(errno));
    close(fd);
}

static void measure(char *program, struct report *report, int rounds)
{
    struct server server = server_start(program);
    char script[] = "/tmp/bench-start-XXXXXX";

    write_script(script);
    samples_init(&report->ours, (size_t)rounds);
    samples_init(&report->plain, (size_t)rounds);
    samples_init(&report->ping, PINGS);
    initialize(&server);
    look(&server, report);
    measure_starts(&server, report, script, rounds);
    measure_ping(&server, &report->ping);
    server_stop(&server);
    measure_memory(program, report);
    unlink(script);
}

int main(int argc, char **argv)
{
    struct report report = {0};
    int rounds = ROUNDS;
    bool json = false;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = (int)strtol(argv[++i], NULL, 10);
        else
            fail("unknown argument %s", argv[i]);
    }
    if (argc < 2 || rounds < 1)
        fail("usage: bench_start PROGRAM [--json] [--rounds N]");
    signal(SIGPIPE, SIG_IGN);
    measure(argv[1], &report, rounds);
    if (json)
        print_json(&report);
    else
        print_table(&report);
    free(report.ours.milliseconds);
    free(report.plain.milliseconds);
    free(report.ping.milliseconds);
    return 0;
}
