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
#include "environments/process/spares.h"
#include "environments/process/spawn.h"

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
    struct process_host *host;    /* borrowed */
    struct list link;             /* in the host */
    struct spare spare;           /* until it has a program */
    struct tree_wish wish;        /* of its process, or of the one that it waits for */
    unsigned layers;              /* of enum process_layer: what the runner is asked for */
    json_t *missing;              /* owned: what could not be had */
    struct cgroup_leaf *leaf;     /* owned; NULL: none */
    struct process *process;      /* borrowed; NULL: no program yet, or moved to another tree */
    bool is_second;               /* another one was refused to the process before */
    bool is_prepared;             /* the supervisor has said ready */
    bool is_ahead;                /* its program is started ahead of its code */
    bool has_input;               /* its program is asked there for what it does */
    bool is_copy;                 /* its program is a copy of another tree's (tree_copy.c) */
    const struct tree_role *role; /* NULL: it has no part in copying zygotes */
    struct nursery *nursery;      /* owned: of a tree that is one */
    struct list sibling;          /* of a worker: in its nursery */
    struct tree *parent;          /* borrowed: the tree of that; NULL: none, or it is over */
    int zygote;                   /* pidfd, owned; -1: none, or reaped */
    struct forecast *forecast;    /* owned: for which it is; or for what comes after its process */
    struct buffer job;            /* the CONTROL_RUN that waits for readiness */
    int code;                     /* owned: the code that goes with it; -1: none */
    int input;                    /* owned: its standard input, likewise; -1: none */
    int outlet;                   /* owned: the socket to a proxy that goes with it; -1: none */
    struct process_limits limits;
    struct process_end end;
    double begun;     /* CLOCK_MONOTONIC seconds: its start, or that of its program ahead of code */
    double submitted; /* likewise, of its process */
    double started;   /* likewise; 0: never */

    struct channel channel;
    int runner;           /* pidfd, owned; -1: reaped */
    int supervisor;       /* pidfd, owned; -1: not known yet, or reaped */
    pid_t supervisor_pid; /* its own while it is not reaped; 0: not known, or of another tree */
    bool supervisor_reaped;
    bool is_empty;                /* nothing else is left of it, says the supervisor */
    int streams[PROCESS_STREAMS]; /* owned; -1: closed */
    ev_io channel_watcher;
    ev_io runner_watcher;
    ev_io supervisor_watcher;
    ev_io stream_watchers[PROCESS_STREAMS];
    ev_timer bound;   /* of the states that may only last so long */
    ev_timer polling; /* what no watcher tells: whether the cgroup is empty, or anything at all */
};

/* What is different in the trees of zygotes and of their workers (nursery.c). */
struct tree_role {
    unsigned layers;                              /* that its runner is asked for beside its own */
    bool is_doubted;                              /* what it says may come from code of others */
    void (*ready)(struct tree *tree);             /* it is prepared */
    void (*zygote)(struct tree *tree, pid_t pid); /* its zygote is the child PID */
    void (*waits)(struct tree *tree);             /* its program waits for its code; or NULL */
    void (*failed)(struct tree *tree);            /* it ends before its program waited */
    void (*leave)(struct tree *tree);             /* it is being freed */
};

/* What a tree has to have for a program in SANDBOX, or in none; and for COMMAND. */
struct tree_wish tree_wish_of(const struct process_sandbox *sandbox);
struct tree_wish tree_wish_of_command(const struct process_command *command);

/* Starts a runner for HOST that builds PLAN. NULL with ERR. */
struct tree *tree_new(struct process_host *host, const struct tree_plan *plan, struct error *err);

/* A tree for HOST that is not started: for tree_new and the like. */
struct tree *tree_make(struct process_host *host, const struct tree_plan *plan);

/* Starts the runner of TREE, in a leaf of CGROUPS or, where that is NULL, in none. */
int tree_spawn(struct tree *tree, struct cgroup_tree *cgroups, struct spawned *ret,
               struct error *err);

/* TREE has been started, with the ends SPAWNED. */
void tree_begin(struct tree *tree, const struct spawned *spawned);

/* Nothing of TREE has been started. */
void tree_unmake(struct tree *tree);

/* From now on TREE has LIMITS: its leaf, if there is one, and what its program is told to keep to.
 * A tree that its process is moved to has them from this one. */
int tree_limit(struct tree *tree, const struct process_limits *limits, struct error *err);

/* The CONTROL_RUN of the forecast of TREE, appended to JOB. */
int tree_make_ahead(const struct tree *tree, struct buffer *job, struct error *err);

/* True when the child that PIDFD stands for has ended; it is reaped. */
bool tree_reap(int pidfd, siginfo_t *ret);

/* Frees a tree that is over. */
void tree_free(struct tree *tree);

/* Gives the tree, PREPARING or READY, its program: JOB (taken on success) is a CONTROL_RUN, into
 * which those of LIMITS are written that no cgroup enforces. */
int tree_run(struct tree *tree, struct process *process, struct buffer *job,
             const struct process_limits *limits, struct error *err);

/* From now on TREE is that of PROCESS, and JOB (taken) is for another tree, or NULL. */
void tree_attach(struct tree *tree, struct process *process, struct buffer *job);

/* Gives the tree, PREPARING or READY, the program that FORECAST (taken on success) says. */
int tree_start_ahead(struct tree *tree, struct forecast *forecast, struct error *err);

/* Gives such a tree its process and, in `code`, what it lacked. JOB (taken) is for another tree, in
 * case that this one fails it. */
void tree_complete(struct tree *tree, struct process *process, struct buffer *job);

/* What has been done since it began is done ahead of its process. */
void tree_count_ahead(struct tree *tree);

/* The program waits for its code. */
void tree_on_waiting(struct tree *tree);

void tree_interrupt(struct tree *tree);
void tree_kill(struct tree *tree);

/* Sees what has happened, where the loop cannot tell. */
void tree_look(struct tree *tree);

/* Reads what the streams still hold, up to a bound. */
void tree_read_rest(struct tree *tree);

/* Ends TREE, because of TEXT unless something has failed before. */
void tree_fail(struct tree *tree, const char *text);

/* The loop cannot watch a descriptor of TREE. The tree is ended, and its end found by looking. */
void tree_lose_sight(struct tree *tree);

/* Prepared, it gets the program that waits for that, if there is one and the runner has gone. */
void tree_become_ready(struct tree *tree);

/* Until the program runs, another tree may have to run it. */
void tree_drop_job(struct tree *tree);

/* One message of the runner, which is trusted: the program cannot reach the control channel
 * (tree_messages.c). */
void tree_on_message(struct channel *channel, enum control_type type, const char *payload,
                     size_t length);

/* How it comes to its end (tree_end.c). */

void tree_set_state(struct tree *tree, enum tree_state state);

/* Makes `bound` and `polling`. */
void tree_init_timers(struct tree *tree);

/* TREE has SECONDS until its program waits for its code, and fails then. */
void tree_bound_start(struct tree *tree, double seconds);

/* The one way into the end: the program is over, was killed, or never came to be. */
void tree_begin_end(struct tree *tree);

/* The supervisor, if it is known, has not ended the tree: the kernel does. */
void tree_kill_hard(struct tree *tree);

/* Goes on to the next state when what the tree waits for has happened. */
void tree_advance(struct tree *tree);

/* What a tree asks the host, and tells it. */
struct ev_loop *host_loop(const struct process_host *host);
int host_runner(const struct process_host *host);

/* Puts TREE among those of HOST; returns its number. */
unsigned long host_add(struct process_host *host, struct tree *tree);

const struct machine *host_machine(const struct process_host *host);

/* TREE is prepared, and has all that it was to have. */
void host_note_ready(struct process_host *host, const struct tree *tree);

/* TREE's program runs, and what it writes is what its uid can have. */
void host_note_started(struct process_host *host, const struct tree *tree);

/* TREE's runner was refused what it NEEDs, with errno NUMBER. True: it is worth trying again, in
 * vain at most a few times. */
bool host_learn(struct process_host *host, const struct tree *tree, enum control_need need,
                int number, const char *text);

/* TREE's runner was refused: its process, if any, goes to another tree, or stays. */
void host_retry(struct process_host *host, struct tree *tree);

/* A tree with WISH: the prepared one, else a new one. NULL with ERR. */
struct tree *host_take(struct process_host *host, const struct tree_wish *wish, struct error *err);

/* The tree in which what FORECAST says has been started, or NULL. HAS_INPUT: it is to get a
 * standard input as well, which only a copy of a zygote can. */
struct tree *host_take_ahead(struct process_host *host, const struct forecast *forecast,
                             bool has_input);

/* What runs in TREE, which does not end soon, is likely to come again beside it. */
void host_expect_again(struct tree *tree);

/* A child of HOST's may have died that nobody waits for. */
void host_look_for_orphans(struct process_host *host);

/* The library of zygotes, a descriptor (borrowed); -1: there is none. */
int host_core(const struct process_host *host);

struct forecasts *host_forecasts(struct process_host *host);

/* How HOST starts programs ahead of their code (host_ahead.c). */
extern const struct forecast_ways host_ahead;

/* True, with ERR, when no process with WISH can be started: more is required than there is. */
bool host_refuses(const struct process_host *host, const struct tree_wish *wish, struct error *err);
