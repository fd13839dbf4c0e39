/* See init.h. Not for people: it kills everything in its PID namespace. */
#include "base/clock.h"
#include "base/holdings.h"
#include "base/starter/starter.h"
#include "environments/engine/init/cell_relay.h"
#include "environments/engine/init/init.h"
#include "environments/engine/init/usage.h"
#include "environments/engine/init/wire_end.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define INIT_WORDS_PATIENCE_SECONDS 1. /* behind the deadline */

enum {
    EXIT_USAGE = 64,
    EXIT_BROKEN = 71, /* the system refused something */
    EXIT_NOT_EXECUTED = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128, /* plus its number, as shells have it */
};

enum { STAT_BYTES = 128 }; /* of /proc/PID/stat: more than comes before the parent */

/* True in a container of ours, where everything may be killed, and nowhere else. */
static bool is_at_home(void)
{
    char name[sizeof INIT_NAME] = "";
    int fd;

    if (getpid() == 1)
        return true;
    fd = open("/proc/1/comm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)!read(fd, name, sizeof name - 1);
    close(fd);
    return strcmp(name, INIT_NAME) == 0;
}

/* Kills what PROGRAM has left, and notes it. */
static void end_leftovers(struct last_words *words, pid_t program)
{
    struct leftovers leftovers = {0};

    init_program_kill_leftovers(program, &words->status, &leftovers);
    words->leftovers = leftovers.count;
    if (leftovers.had_helpers)
        words->flags |= LAST_WORDS_HELPERS;
    if (!leftovers.are_gone)
        words->flags |= LAST_WORDS_SURVIVORS;
}

static void count_usage(struct last_words *words)
{
    struct rusage usage; /* of all processes that were waited for, background ones too */

    getrusage(RUSAGE_CHILDREN, &usage);
    words->cpu_seconds = clock_seconds_of(usage.ru_utime) + clock_seconds_of(usage.ru_stime);
    words->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

/* The bytes that deleted files together may hold: the limit of a single file. 0: there is no limit.
 */
static uint64_t most_deleted(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    return limit.rlim_cur;
}

static bool holds_too_much(struct watch *watch, uint64_t most)
{
    double began = clock_seconds();
    struct holdings holdings;

    holdings_look_at_files(&holdings);
    watch->longest = HOLDINGS_SECONDS + HOLDINGS_SHARE * (clock_seconds() - began);
    return holdings.deleted > most;
}

/* When things are to be done beside waiting. */
struct init_schedule {
    uint64_t most;     /* bytes that deleted files may hold; 0: no limit */
    double next_look;  /* at them, where there is a limit */
    double next_flush; /* when the program is told to flush; 0: it has no starter */
};

/* False: the program has written too much. */
static bool init_do_due(struct init_schedule *schedule, struct watch *watch, pid_t program)
{
    double now = clock_seconds();

    if (schedule->next_flush > 0 && now >= schedule->next_flush) {
        kill(program, STARTER_SIGNAL);
        schedule->next_flush = now + STARTER_SECONDS;
    }
    if (schedule->most == 0 || now < schedule->next_look)
        return true;
    if (holds_too_much(watch, schedule->most))
        return false;
    if (schedule->next_flush > 0 && watch->longest > STARTER_SECONDS)
        watch->longest = STARTER_SECONDS;
    schedule->next_look = clock_seconds() + watch->longest;
    return true;
}

/* An interrupt comes behind the cell that it is for. */
static void init_pass_interrupt(struct watch *watch, pid_t program)
{
    if (!watch->interrupted || (watch->relay && !cell_relay_is_empty(watch->relay)))
        return;
    kill(program, SIGINT);
    watch->interrupted = false;
}

/* Until PROGRAM has ended, or is to be killed for the reason that is added to the flags. */
static void wait_for_program(struct watch *watch, struct init_schedule *schedule, pid_t program,
                             struct last_words *words)
{
    pid_t pid;

    do {
        if (!init_do_due(schedule, watch, program)) {
            words->flags |= LAST_WORDS_OUT_OF_DISK;
            return;
        }
        while ((pid = waitpid(-1, &words->status, WNOHANG)) > 0)
            if (pid == program)
                return;
        init_pass_interrupt(watch, program);
    } while (watch_wait(watch));
    words->flags |=
        watch->relay && watch->relay->is_astray ? LAST_WORDS_ASTRAY : LAST_WORDS_OVERDUE;
}

/* The command line. */
struct init_order {
    bool keeps;
    double idle;         /* seconds for which it waits for the go; 0: it does not */
    bool has_gate;       /* its program may wait, too */
    const char *streams; /* path of the socket for its streams; NULL: it has the engine's */
    bool needs_tools;
    bool is_session;
    double seconds; /* of the program, or of the container that is kept */
    struct init_program program;
};

/* False: nobody hears it. */
static bool init_answer_go(struct watch *watch)
{
    wire_end_say(watch->wire, INIT_BEGUN, watch->deadline);
    return watch->wire->out >= 0;
}

static bool init_lacks_tools(const struct watch *watch)
{
    return watch->needs_tools && watch->tools < 0;
}

/* Starts PROGRAM, which waits as well. False: there is to be no script. */
static bool init_run_gated(struct watch *watch, const struct init_order *order, pid_t *ret_program,
                           int *ret_failure)
{
    struct init_program program = order->program;
    struct gate gate;

    if (!gate_make(&gate))
        return false;
    program.gate = gate.theirs;
    *ret_program = init_program_start(&program, ret_failure);
    close(gate.theirs);
    return *ret_program > 0 && await_go(watch, *ret_program, order->seconds) && gate_is_safe() &&
           !init_lacks_tools(watch) && gate_give_tools(&gate, watch->tools) &&
           init_answer_go(watch) && gate_open(&gate);
}

static pid_t init_run_at_once(const struct watch *watch, const struct init_order *order,
                              int *ret_failure)
{
    struct init_program program = order->program;

    program.tools = watch->tools;
    return init_program_start(&program, ret_failure);
}

/* Starts its program, at once or when it is told. False: there is to be no script. */
static bool init_begin(struct watch *watch, const struct init_order *order, pid_t *ret_program,
                       int *ret_failure)
{
    if (order->idle > 0 && order->has_gate && gate_is_safe())
        return init_run_gated(watch, order, ret_program, ret_failure);
    if (order->idle > 0 && !await_go(watch, 0, order->seconds))
        return false;
    if (init_lacks_tools(watch) || (order->idle > 0 && !init_answer_go(watch)))
        return false;
    *ret_program = init_run_at_once(watch, order, ret_failure);
    return true;
}

/* The program has them. */
static void init_leave_tools(struct watch *watch)
{
    if (watch->tools >= 0)
        close(watch->tools);
    watch->tools = -1;
}

static int init_exit_status(const struct last_words *words)
{
    if (words->failure)
        return words->failure == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTED;
    if (WIFSIGNALED(words->status))
        return EXIT_SIGNAL + WTERMSIG(words->status);
    return WEXITSTATUS(words->status);
}

static int init_run(struct watch *watch, const struct init_order *order)
{
    struct init_schedule schedule = {.most = most_deleted()};
    struct last_words words = {0};
    int memory = usage_watch_kills();
    long kills = usage_count_kills(memory);
    pid_t program;
    double started;

    if (!init_begin(watch, order, &program, &words.failure)) {
        wire_end_say(watch->wire, INIT_NOT_BEGUN, watch->deadline + INIT_WORDS_PATIENCE_SECONDS);
        return EXIT_SUCCESS;
    }
    started = clock_seconds();
    if (order->program.is_script) {
        watch->longest = STARTER_SECONDS;
        schedule.next_flush = started + STARTER_SECONDS;
    }
    if (schedule.most > 0) {
        watch->longest = HOLDINGS_SECONDS; /* there is nothing yet; the program needs the time */
        schedule.next_look = started + HOLDINGS_SECONDS;
    }
    if (program < 0) {
        words.failure = errno;
    } else {
        init_leave_tools(watch);
        wait_for_program(watch, &schedule, program, &words);
    }
    words.run_seconds = clock_seconds() - started;
    end_leftovers(&words, program);
    if (usage_count_kills(memory) > kills)
        words.flags |= LAST_WORDS_OUT_OF_MEMORY;
    count_usage(&words);
    wire_end_say_words(watch->wire, INIT_ENDED, &words,
                       watch->deadline + INIT_WORDS_PATIENCE_SECONDS);
    await_dismissal(watch);
    return init_exit_status(&words);
}

/* The init of a run was executed from outside: it has no parent here. */
static bool is_init_of_a_run(pid_t pid)
{
    char path[32];
    char text[STAT_BYTES] = "";
    int parent = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    return sscanf(text, "%*d (" INIT_NAME ") %*c %d", &parent) == 1 && parent == 0;
}

/* Passes SIGINT on to the inits of all runs in a kept container. */
static void init_interrupt_runs(void)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;

    while (processes && (entry = readdir(processes))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid > 1 && is_init_of_a_run(pid))
            kill(pid, SIGINT);
    }
    if (processes)
        closedir(processes);
}

/* Its end ends the container: the kernel kills the rest. */
static int init_keep(struct watch *watch)
{
    do {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (watch->interrupted)
            init_interrupt_runs();
        watch->interrupted = false;
    } while (watch_wait(watch));
    return 0;
}

/* Takes the argument at *ARGV if it is NAME. */
static bool take_option(char ***argv, const char *name)
{
    if (!**argv || strcmp(**argv, name) != 0)
        return false;
    ++*argv;
    return true;
}

static const char *take_argument(char ***argv)
{
    return **argv ? *(*argv)++ : NULL;
}

static double take_seconds(char ***argv)
{
    const char *word = take_argument(argv);

    return word ? strtod(word, NULL) : 0;
}

/* Its program gets the other end of RELAY. */
static bool init_relay(struct watch *watch, struct init_order *order, struct cell_relay *relay)
{
    if (!order->is_session)
        return true;
    if (!cell_relay_open(relay, watch->wire))
        return false;
    order->program.input = relay->theirs;
    watch->relay = relay;
    return true;
}

/* False when ARGV is not a command line of the server. */
static bool read_order(struct init_order *order, char **argv)
{
    order->keeps = take_option(&argv, "--keep");
    order->program.is_script = take_option(&argv, "--script");
    order->idle = take_option(&argv, "--ahead") ? take_seconds(&argv) : 0;
    order->has_gate = take_option(&argv, "--gate");
    order->streams = take_option(&argv, "--streams") ? take_argument(&argv) : NULL;
    order->needs_tools = take_option(&argv, "--tools");
    order->is_session = take_option(&argv, "--session");
    order->seconds = take_seconds(&argv);
    order->program.gate = -1;
    order->program.tools = -1;
    order->program.input = -1;
    if (order->keeps)
        return !*argv;
    if (!take_option(&argv, "--") || !*argv)
        return false;
    order->program.arguments = argv;
    return order->idle <= 0 || argv[1];
}

/* Opens WIRE, which the program of ORDER prints to. */
static bool init_open_wire(struct watch *watch, struct init_order *order, struct wire_end *wire)
{
    if (!wire_end_open(wire, order->streams))
        return false;
    memcpy(order->program.outputs, wire->theirs, sizeof wire->theirs);
    watch->wire = wire;
    watch->tools = wire->tools;
    watch->needs_tools = order->needs_tools;
    return true;
}

static int init_serve(struct init_order *order)
{
    struct watch watch;
    struct wire_end wire;
    struct cell_relay relay;

    if (!watch_begin(&watch, order->idle > 0 ? order->idle : order->seconds))
        return EXIT_BROKEN;
    if (order->keeps)
        return init_keep(&watch);
    if (!init_open_wire(&watch, order, &wire) || !init_relay(&watch, order, &relay))
        return EXIT_BROKEN;
    if (order->idle > 0)
        watch.script = order->program.arguments[1];
    return init_run(&watch, order);
}

int main(int argc, char **argv)
{
    struct init_order order;

    /* First of all: a program is kept from tracing us, and from reaching the wire. */
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return EXIT_BROKEN;
    if (argc < 2 || !read_order(&order, argv + 1) || (!order.keeps && !is_at_home())) {
        fputs(INIT_NAME " is started by pyexecd\n", stderr);
        return EXIT_USAGE;
    }
    if (prctl(PR_SET_NAME, INIT_NAME) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return EXIT_BROKEN;
    return init_serve(&order);
}
