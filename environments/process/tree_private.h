/* One process tree as the server sees it: a runner that is being prepared, waits, runs a program,
 * or is coming to its end. Private to this layer; others see `struct process`. */
#pragma once

#include "base/buffer.h"
#include "base/list.h"
#include "environments/process/cgroup_leaf.h"
#include "environments/process/channel.h"
#include "environments/process/forecast.h"
#include "environments/process/machine.h"
#include "environments/process/process.h"
#include "environments/process/spawn.h"
#include "environments/process/waiting.h"

#include <ev.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum tree_state {
    TREE_PREPARING, /* waiting for the supervisor to say ready, and for the end of the runner */
    TREE_READY,     /* waiting for a program */
    TREE_STARTING,  /* waiting for a program that is started ahead of its code to say so */
    TREE_WAITING,   /* waiting for its code */
    TREE_RUNNING,   /* waiting for the end of the program */
    TREE_EMPTYING,  /* the supervisor kills everything; waiting until the tree is empty */
    TREE_FORCING,   /* the kernel was asked to kill it; waiting likewise */
    TREE_DRAINING,  /* waiting for the end of the streams */
    TREE_LEAVING,   /* the loop reports its end; waiting until its supervisor is gone */
    TREE_OVER,      /* waiting for the loop to free it */
};

struct tree {
    unsigned long number; /* for the log */
    enum tree_state state;
    struct process_host *host; /* borrowed */
    struct list link;          /* in the host */
    struct waiting waiting;    /* as a spare, a zygote, or for its code */
    struct tree_wish wish;     /* of its process, or of the expected process */
    unsigned layers;           /* of enum process_layer: the layers that the runner is asked for */
    json_t *missing;           /* owned: texts of missing features */
    struct cgroup_leaf *leaf;  /* owned; NULL: none */
    struct process *process;   /* borrowed; NULL: no program yet, or moved to another tree */
    bool is_second;            /* another tree has been refused to the process before */
    bool is_prepared;          /* the supervisor has said ready */
    bool is_ahead;             /* its program is started ahead of its code */
    bool has_input;            /* its program has a standard input, by which it gets orders */
    bool is_to_be_interrupted; /* its program gets an interrupt when it has started */
    bool is_copy;              /* its program is a copy of another tree's */
    const struct tree_role *role; /* NULL: it has no part in copying zygotes */
    struct nursery *nursery;      /* owned: of the tree of a zygote */
    struct list sibling;          /* of a worker: in its nursery */
    struct tree *parent;          /* borrowed: the tree of its nursery; NULL: none, or it is over */
    int zygote;                   /* pidfd, owned; -1: none, or reaped */
    struct forecast *forecast; /* held: of its expected process, or of the one after its process */
    struct buffer job;         /* the CONTROL_RUN that waits for readiness */
    int code;                  /* owned: the code that goes with the job; -1: none */
    int input;                 /* owned: the standard input that goes with the job; -1: none */
    int tools;                 /* owned: the socket to the tools, likewise; -1: none */
    int outlet;                /* owned: the socket to a proxy that goes with the job; -1: none */
    struct process_limits limits;
    unsigned keepers; /* in it (core/keeper.h): 0 or 1 */
    struct process_end end;
    double begun;     /* CLOCK_MONOTONIC seconds: its start, or its program's ahead of code */
    double submitted; /* when its process came */
    double started;   /* when the program began; 0: never */

    struct channel channel;
    int runner;           /* pidfd, owned; -1: reaped */
    int supervisor;       /* pidfd, owned; -1: not known yet, or reaped */
    pid_t supervisor_pid; /* valid until it is reaped; 0: not known, or of another tree */
    bool supervisor_reaped;
    bool is_empty;                /* the supervisor has reported that only it is left */
    int streams[PROCESS_STREAMS]; /* owned; -1: closed */
    ev_io channel_watcher;
    ev_io runner_watcher;
    ev_io supervisor_watcher;
    ev_io stream_watchers[PROCESS_STREAMS];
    ev_timer bound;   /* of states that have a time limit */
    ev_timer polling; /* for facts without a watcher: the cgroup is empty; or for all, if watching
                         failed */
};

/* The differences of the trees of zygotes and of their workers (nursery.c). */
struct tree_role {
    unsigned layers;                              /* that its runner is asked for, too */
    bool is_doubted;                              /* its messages may come from foreign code */
    void (*ready)(struct tree *tree);             /* it is prepared */
    void (*zygote)(struct tree *tree, pid_t pid); /* its zygote is the child PID */
    void (*waits)(struct tree *tree);             /* its program waits for its code; or NULL */
    void (*failed)(struct tree *tree);            /* it ends before its program waited */
    void (*leave)(struct tree *tree);             /* it is being freed */
};

/* The wish for a program in SANDBOX, or in none; and for COMMAND. */
struct tree_wish tree_wish_of(const struct process_sandbox *sandbox);
struct tree_wish tree_wish_of_command(const struct process_command *command);

/* Starts a runner for HOST that builds PLAN. NULL with ERR. */
struct tree *tree_new(struct process_host *host, const struct tree_plan *plan, struct error *err);

/* A tree for HOST that is not started: for tree_new and the like. */
struct tree *tree_make(struct process_host *host, const struct tree_plan *plan);

/* Starts the runner of TREE, in a leaf of CGROUPS; without a leaf if CGROUPS is NULL. */
int tree_spawn(struct tree *tree, struct cgroup_tree *cgroups, struct spawned *ret,
               struct error *err);

/* TREE has been started, with the ends SPAWNED. */
void tree_begin(struct tree *tree, const struct spawned *spawned);

/* Frees TREE, of which no process has been started. */
void tree_unmake(struct tree *tree);

/* Sets LIMITS for TREE: in its leaf, if there is one, and for the resource limits of its program.
 * If its process is moved to another tree, the limits go with it. */
int tree_limit(struct tree *tree, const struct process_limits *limits, struct error *err);

/* The CONTROL_RUN of the forecast of TREE, appended to JOB. */
int tree_make_ahead(const struct tree *tree, struct buffer *job, struct error *err);

/* True when the child with PIDFD has ended; it is reaped. */
bool tree_reap(int pidfd, siginfo_t *ret);

/* Frees a tree that is over. */
void tree_free(struct tree *tree);

/* Gives the tree, PREPARING or READY, its program: JOB (taken on success) is a CONTROL_RUN, into
 * which the LIMITS that no cgroup enforces are written. */
int tree_run(struct tree *tree, struct process *process, struct buffer *job,
             const struct process_limits *limits, struct error *err);

/* Gives the tree, PREPARING or READY, the program of FORECAST, which it holds. */
int tree_start_ahead(struct tree *tree, struct forecast *forecast, struct error *err);

/* Gives a tree that was started ahead its process; `code` is set. JOB (taken) is for another tree,
 * if this one fails. */
void tree_complete(struct tree *tree, struct process *process, struct buffer *job);

/* Adds the time since TREE began to the time that was spent ahead of its process. */
void tree_count_ahead(struct tree *tree);

void tree_interrupt(struct tree *tree);
void tree_kill(struct tree *tree);

/* Looks for events that the loop cannot report. */
void tree_look(struct tree *tree);

/* See process_hold; without effect when its end has begun. */
void tree_hold(struct tree *tree, bool is_held);

/* Reads what the streams still hold, up to a bound. */
void tree_read_rest(struct tree *tree);

/* Ends TREE. TEXT is its failure, unless there is an earlier failure. */
void tree_fail(struct tree *tree, const char *text);

/* The loop cannot watch a descriptor of TREE. The tree is ended, and its end found by looking. */
void tree_lose_sight(struct tree *tree);

/* The end of a tree (tree_end.c). */

void tree_set_state(struct tree *tree, enum tree_state state);

/* Makes `bound` and `polling`. */
void tree_init_timers(struct tree *tree);

/* TREE has SECONDS until its program waits for its code, and fails then. */
void tree_bound_start(struct tree *tree, double seconds);

/* The one way into the end: the program is over, was killed, or never came to be. */
void tree_begin_end(struct tree *tree);

/* Lets the kernel kill the tree, because its supervisor, if it is known, has not done so. */
void tree_kill_hard(struct tree *tree);

/* Goes on to the next state when what the tree waits for has happened. */
void tree_advance(struct tree *tree);
