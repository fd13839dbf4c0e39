/* See init.h. Not for people: it kills everything in its PID namespace. */
#include "base/clock.h"
#include "base/holdings.h"
#include "base/starter/starter.h"
#include "environments/engine/init/init.h"

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

enum {
    EXIT_USAGE = 64,
    EXIT_BROKEN = 71, /* the system refused something */
    EXIT_NOT_EXECUTED = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128, /* plus its number, as shells have it */
};

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

/* Takes the nonce out of the environment, before the program could get it. */
static bool take_nonce(char nonce[LAST_WORDS_NONCE + 1])
{
    const char *given = getenv(LAST_WORDS_VARIABLE);

    if (!given || strlen(given) != LAST_WORDS_NONCE)
        return false;
    memcpy(nonce, given, LAST_WORDS_NONCE + 1);
    unsetenv(LAST_WORDS_VARIABLE);
    return true;
}

static int init_exit_status(const struct last_words *words)
{
    if (words->failure)
        return words->failure == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTED;
    if (WIFSIGNALED(words->status))
        return EXIT_SIGNAL + WTERMSIG(words->status);
    return WEXITSTATUS(words->status);
}

static double init_seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void count_usage(struct last_words *words)
{
    struct rusage usage; /* of all that was waited for, background processes too */

    getrusage(RUSAGE_CHILDREN, &usage);
    words->cpu_seconds = init_seconds(usage.ru_utime) + init_seconds(usage.ru_stime);
    words->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

/* What deleted files may hold together: as much as one file may grow to. 0: there is no limit. */
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

    if (most == 0)
        return false;
    holdings_look_at_files(&holdings);
    watch->longest = HOLDINGS_SECONDS + HOLDINGS_SHARE * (clock_seconds() - began);
    return holdings.deleted > most;
}

/* When things are to be done beside waiting. */
struct init_schedule {
    uint64_t most;     /* bytes that deleted files may hold; 0: no limit */
    double next_look;  /* at them */
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
    if (now < schedule->next_look)
        return true;
    if (holds_too_much(watch, schedule->most))
        return false;
    if (schedule->next_flush > 0 && watch->longest > STARTER_SECONDS)
        watch->longest = STARTER_SECONDS;
    schedule->next_look = clock_seconds() + watch->longest;
    return true;
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
        if (watch->interrupted)
            kill(program, SIGINT);
        watch->interrupted = false;
    } while (watch_wait(watch));
    words->flags |= LAST_WORDS_OVERDUE;
}

static int init_run(struct watch *watch, const struct init_program *given, const char *nonce)
{
    struct init_schedule schedule = {.most = most_deleted()};
    struct last_words words = {0};
    int memory = memory_watch();
    long kills = memory_kills(memory);
    pid_t program = init_program_start(given, &words.failure);
    double started = clock_seconds();
    bool is_empty;

    if (given->is_script)
        schedule.next_flush = started + STARTER_SECONDS;
    if (program < 0)
        words.failure = errno;
    else
        wait_for_program(watch, &schedule, program, &words);
    words.run_seconds = clock_seconds() - started;
    words.leftovers = leftovers_kill(program, &words.status, &is_empty);
    if (!is_empty)
        words.flags |= LAST_WORDS_SURVIVORS;
    if (memory_kills(memory) > kills)
        words.flags |= LAST_WORDS_OUT_OF_MEMORY;
    count_usage(&words);
    words_say(&words, nonce, watch->deadline);
    return init_exit_status(&words);
}

/* Its end is that of the container: the kernel kills the rest. */
static int init_keep(struct watch *watch)
{
    do {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (watch->interrupted)
            runs_interrupt();
        watch->interrupted = false;
    } while (watch_wait(watch));
    return 0;
}

int main(int argc, char **argv)
{
    const bool keeps = argc == 3 && strcmp(argv[1], "--keep") == 0;
    const bool is_script = argc > 1 && strcmp(argv[1], "--script") == 0;
    char **given = argv + (keeps || is_script ? 2 : 1); /* SECONDS -- PROGRAM ARGUMENT... */
    const struct init_program program = {.arguments = given + 2, .is_script = is_script};
    char nonce[LAST_WORDS_NONCE + 1];
    struct watch watch;

    /* First of all: a program is kept from tracing us, and from reading the nonce. */
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return EXIT_BROKEN;
    if (!keeps && (argv + argc - given < 3 || strcmp(given[1], "--") != 0 || !take_nonce(nonce) ||
                   !is_at_home())) {
        fputs(INIT_NAME " is started by pyexecd\n", stderr);
        return EXIT_USAGE;
    }
    if (prctl(PR_SET_NAME, INIT_NAME) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
        !watch_begin(&watch, strtod(*given, NULL)))
        return EXIT_BROKEN;
    return keeps ? init_keep(&watch) : init_run(&watch, &program, nonce);
}
