/* A command that the stopwatch runs to its end, or that is its server. */
#pragma once
#include <jansson.h>
#include <sys/types.h>

struct command {
    char **argv;        /* owned; the words are borrowed from the order */
    char **environment; /* owned, and its strings */
    const char *expect; /* borrowed from the order */
    char *output;       /* owned; of the newest run */
    double deadline;
    long count;
};

/* Says what went wrong in place of an answer, and ends the stopwatch. */
void __attribute__((noreturn, format(printf, 1, 2))) command_fail(const char *format, ...);

double command_clock_us(void);

/* What ORDER says of it; its strings must live as long. */
void command_read(json_t *order, struct command *command);
void command_free(struct command *command);

void command_make_pipe(int ends[2]);

/* Starts it with its stdin from IN, or from nothing for -1, its stdout to OUT, and its stderr to
 * the file LOG unless that is NULL. */
pid_t command_spawn(struct command *command, int in, int out, const char *log);

/* Runs it; the microseconds from posix_spawn to the end of its output and its wait status. */
double command_run(struct command *command);

/* For a thread: runs the command ARGUMENT until its deadline, and counts. */
void *command_repeat(void *argument);
