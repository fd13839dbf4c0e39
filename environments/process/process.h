/* One contained process tree: a program, everything it starts, two output streams and one end.
 *
 * A process is started through the runner, a small separate executable that builds the containment
 * and stays as its init (pid 1 of the run's PID namespace, where the kernel gives one). Preparing a
 * runner takes milliseconds, so the host keeps one prepared ahead of time, and a process starts at
 * once when there is one.
 *
 * The end of the *program* ends the process: everything else it started is killed, the pipes are
 * drained for at most PROCESS_DRAIN_SECONDS, and `ended` is called when the tree is empty (rules
 * L1 to L5). A process cannot be cancelled, only interrupted or killed, because its end must be
 * waited for. */
#pragma once

#include "base/error.h"
#include "environments/process/host.h"
#include "environments/process/receipt.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_DRAIN_SECONDS 0.2
#define PROCESS_EMPTY_SECONDS 2.0 /* how long a killed tree may take to be gone */

struct preloads;
struct recurrence;
struct tree;

struct process_limits {
    uint64_t memory;    /* bytes, all processes together where a cgroup exists, else each */
    unsigned processes; /* processes and threads */
    uint64_t file_size; /* bytes a single file may grow to */
};

/* What to run. Everything is borrowed until process_start returns. */
struct process_command {
    const char *const *arguments;   /* NULL-terminated; [0] is an absolute path */
    const char *const *environment; /* NULL-terminated NAME=VALUE */
    const char *directory;          /* absolute: the current directory */
    const char *code;               /* CODE_LENGTH bytes that appear as the file ... */
    size_t code_length;
    const char *script; /* ... at this absolute path, where a file must be, for this process only
                           and not to be changed; or both NULL. It takes a PID namespace */
    int input;          /* a descriptor that is its standard input; 0: /dev/null */
    bool has_starter;   /* the program is the Python of a script (base/starter/starter.h) */
    struct recurrence *recurrence; /* likewise, with code: who is going to come with the same
                                      command again, which may be started ahead of its code
                                      (forecast.h); or NULL: nobody */
    bool is_alone;                 /* of a recurrent one: it is not started as a copy of another */
    struct preloads *preloads; /* likewise: what the one that is copied imports ahead (preloads.h);
                                  a holder is added; or NULL */
    const char *mark; /* of a recurrent one: another one when its paths lead to other files */
    const struct process_sandbox *sandbox; /* NULL: it is kept from nothing */
    struct process_limits limits;
};

enum process_stream {
    PROCESS_STDOUT,
    PROCESS_STDERR,
    PROCESS_STREAMS,
};

/* How it ended. Times in seconds, memory in bytes. */
struct process_end {
    struct process_receipt receipt; /* borrowed until `ended` returns */
    int wait_status;                /* of the program, as wait(2) has it; only if `reported` */
    bool reported;                  /* false: it was killed before it could be waited for */
    bool killed;                    /* process_kill came first */
    bool refused;                   /* this machine does not give what it needs; it never ran */
    bool out_of_memory;             /* a process was killed by the memory limit */
    bool out_of_disk;               /* the tree held too much in deleted files, and was killed */
    bool survivors;                 /* containment failed: the tree was not empty in time */
    unsigned leftovers;             /* processes that were still there after the program */
    json_t *stacks;                 /* where it was when it was interrupted (python_stacks.h),
                                       borrowed until `ended` returns; or NULL */
    char failure[ERROR_FULL_BYTES]; /* not empty: the program never ran, or its end or output could
                                       not be followed; why */
    double cpu_seconds;             /* user and system, of the tree as far as it was waited for */
    uint64_t peak_memory;           /* peak resident set or, with a cgroup, of the whole tree */
    double ahead_seconds;           /* that its start had taken before process_start; 0: none */
    double start_seconds;           /* from process_start to the exec of the program */
    double run_seconds;             /* from the exec to the end of the program */
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

/* What the copy of a program goes on with, each a descriptor or -1; close on exec. */
struct process_copy_ends {
    int streams[PROCESS_STREAMS]; /* its standard output and standard error */
    int gate; /* a socket: the copy says there that it is one, and waits (enum control_copied) */
};

/* COPY, as for process_start, continues PROCESS: the caller tells the program of that to make a
 * copy of itself, and to give it what is in *RET, which is the caller's. The copy is limited as
 * PROCESS is, in a cgroup of its own, and ends with PROCESS at the latest. -1: there can be none;
 * ERROR_UNAVAILABLE with the reason. That the program makes none is told by `ended` (tree_copy.c).
 */
int process_start_copy(struct process *process, struct process *copy, struct process_copy_ends *ret,
                       struct error *err);
void process_copy_ends_close(struct process_copy_ends *ends);

/* What a process has used so far. */
struct process_usage {
    double cpu_seconds; /* of the whole tree; with a cgroup to the microsecond, else in steps of the
                           kernel's clock, and of what was killed unseen nothing */
    uint64_t peak_memory; /* bytes, as in struct process_end: since the last process_measure where
                             the kernel can count anew (memory.peak of Linux 6.12, or cgroup v1),
                             else since the start */
    double ahead_seconds; /* as in struct process_end */
};

/* That of PROCESS; all 0 when its tree has ended. From now on its peak is counted anew. */
struct process_usage process_measure(const struct process *process);

/* Hands over what is in its streams now, by `output`, from inside this call. */
void process_drain(struct process *process);

/* SIGINT for the program, not for what it has started; nothing when there is no program yet, or no
 * more. A Python that can say where it is does that first. */
void process_interrupt(struct process *process);

/* SIGKILL for the whole tree, now. `ended` still comes. Harmless when it is called twice. */
void process_kill(struct process *process);
