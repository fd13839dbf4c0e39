/* One contained process tree: a program, everything it starts, two output streams and one end.
 *
 * A process is started through the runner, a small separate executable that builds the containment
 * and stays as its init (pid 1 of the run's PID namespace, where the kernel gives one). Preparing a
 * runner takes milliseconds, so the host keeps one prepared ahead of time, and a process starts at
 * once when one is ready.
 *
 * The end of the *program* ends the process: everything else it started is killed, the pipes are
 * drained for at most PROCESS_DRAIN_SECONDS, and `ended` is called when the tree is empty (rules L1
 * to L5). A process cannot be cancelled, only interrupted or killed, because its end must be waited
 * for. */
#pragma once

#include "base/error.h"
#include "environments/process/host.h"
#include "environments/process/process_limits.h"
#include "environments/process/receipt.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#define PROCESS_DRAIN_SECONDS 0.2
#define PROCESS_EMPTY_SECONDS 2.0 /* how long a killed tree may take to be gone */

struct preloads;
struct recurrence;
struct tree;

/* The program to run. Everything is borrowed until process_start returns. */
struct process_command {
    const char *const *arguments;   /* NULL-terminated; [0] is an absolute path */
    const char *const *environment; /* NULL-terminated NAME=VALUE */
    const char *directory;          /* absolute: the current directory */
    const char *code;               /* CODE_LENGTH bytes that appear as the file ... */
    size_t code_length;
    const char *script; /* ... at this absolute path, where a file must be, for this process only
                           and not to be changed; or both NULL. It takes a PID namespace */
    int input;        /* a descriptor that is its standard input; 0: /dev/null. A program that gets
                         one begins with SIGINT blocked */
    int tools;        /* with has_starter: a socket by which its script calls tools; 0: none */
    bool has_starter; /* the program is the Python of a script (base/starter/starter.h) */
    struct recurrence *recurrence; /* the user that may come again, for which the command is started
                                      ahead of its code (forecast.h); or NULL. Without `code` its
                                      script is a file that is written before the process starts */
    bool is_alone; /* with `recurrence`: it is not started as a copy of another process, which takes
                      `code` */
    struct preloads *preloads; /* with `recurrence`: modules for the zygote that is copied
                                  (preloads.h); a holder is added; or NULL */
    const char *mark;          /* with `recurrence`: differs when its paths lead to other files */
    const struct process_sandbox *sandbox; /* NULL: no sandbox */
    struct process_limits limits;
};

enum process_stream {
    PROCESS_STDOUT,
    PROCESS_STDERR,
    PROCESS_STREAMS,
};

/* How a process ended. Times in seconds, memory in bytes. */
struct process_end {
    struct process_receipt receipt; /* of the layers that held it; borrowed until `ended` returns */
    char failure[ERROR_FULL_BYTES]; /* not empty: why the program never ran, or why its end or
                                       output is not known */
    bool refused;                   /* this machine lacks a layer that it needs; it never ran */
    bool vanished;                  /* what it was to begin in is gone, or no good; it never ran */
    bool reported;                  /* false: it was killed before it could be waited for */
    bool killed;                    /* process_kill came first */
    int returncode;                 /* as Python's subprocess has it: -N for signal N. -SIGKILL if
                                       it is not reported: no other end leaves no status */
    bool out_of_memory;             /* a process was killed by the memory limit */
    bool out_of_disk;               /* a process was killed: it had written too much */
    bool survivors;                 /* containment failed: the tree was not empty in time */
    unsigned leftovers;             /* processes that were still there after the program, and were
                                       killed */
    json_t *stacks; /* the stacks when it was interrupted (python_stacks.h), borrowed until `ended`
                       returns; or NULL */
    json_t *left_files;   /* files that are gone with a /tmp of its own: their `count`, and the
                             `names`   of some; borrowed likewise; or NULL */
    double cpu_seconds;   /* user and system, of the tree as far as it was waited for */
    uint64_t peak_memory; /* peak resident set or, with a cgroup, of the whole tree */
    double ahead_seconds; /* spent on its start before process_start; 0: none */
    double start_seconds; /* from process_start to the exec of the program */
    double run_seconds;   /* from the exec to the end of the program */
};

struct process {
    /* Inputs, set before process_start. */
    void (*output)(struct process *process, enum process_stream stream, const char *data,
                   size_t length);
    void (*ended)(struct process *process, const struct process_end *end); /* last thing called */

    /* Private. */
    struct tree *tree; /* borrowed from the host */
};

/* Starts COMMAND; 0: `ended` will come later, never from inside this call. -1: it will not, and ERR
 * (ERROR_UNAVAILABLE: containment refused; ERROR_SYSTEM) says why. */
int process_start(struct process_host *host, struct process *process,
                  const struct process_command *command, struct error *err);

/* The descriptors of the copy of a program, each may be -1; close on exec. */
struct process_copy_ends {
    int streams[PROCESS_STREAMS]; /* its standard output and standard error */
    int gate; /* a socket: the copy announces itself there, and waits (enum control_copied) */
};

/* COPY, as for process_start, continues PROCESS: the caller tells the program of PROCESS to make a
 * copy of itself, and to give it the descriptors in *RET (owned by the caller). The copy has the
 * limits of PROCESS, in a cgroup of its own, and ends with PROCESS at the latest. -1: a copy is
 * impossible; ERROR_UNAVAILABLE with the reason. If the program makes no copy, `ended` reports it.
 */
int process_start_copy(struct process *process, struct process *copy, struct process_copy_ends *ret,
                       struct error *err);
void process_copy_ends_close(struct process_copy_ends *ends);

/* The resources that a process has used so far. */
struct process_usage {
    double cpu_seconds; /* of the whole tree; with a cgroup to the microsecond, else in steps of the
                           kernel's clock, without processes that nobody waited for */
    uint64_t peak_memory; /* bytes, as in struct process_end: since the last process_measure where
                             the kernel can count anew (memory.peak of Linux 6.12, or cgroup v1),
                             else since the start */
    double ahead_seconds; /* as in struct process_end */
};

/* The usage of PROCESS; all 0 when its tree has ended. From now on its peak is counted anew. */
struct process_usage process_measure(const struct process *process);

/* Hands over the present contents of the streams, by `output`, from inside this call. */
void process_drain(struct process *process);

/* While IS_HELD the streams are not read, so that the program waits when its pipes are full. Its
 * end reads what is there. */
void process_hold(struct process *process, bool is_held);

/* SIGINT for the program, not for its children; does nothing when there is no program any more, nor
 * when there is none yet, unless that gets an input: then it comes when it has started. If the
 * stacks of a Python can be had, they are taken first. */
void process_interrupt(struct process *process);

/* SIGKILL for the whole tree, now. `ended` still comes. Harmless when it is called twice. */
void process_kill(struct process *process);

/* The returncode for a status of wait(2). */
static inline int process_returncode(int wait_status)
{
    return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
