/* One run, from the moment it has been accepted to its end; the inside of executor.h.
 *
 *     WAITING -> PREPARING -> ACTING
 *
 * ACTING is its turn (turn.h). If its code cannot reach the interpreter as it was delivered, which
 * may turn out as late as when it works, the run begins again.
 *
 * After a cancel everything is killed at once. A run outlives its owner: run_cancel forgets the
 * owner, and its process is waited for before the run is freed. */
#pragma once

#include "environments/executor.h"
#include "environments/turn.h"
#include "environments/workplace/working_directory.h"

enum run_state {
    RUN_WAITING,   /* for a place */
    RUN_PREPARING, /* waits for its environment */
    RUN_ACTING,    /* waits for the end of its turn */
};

struct run {
    unsigned long number;                /* for the log */
    struct run_request request;          /* its strings are unset, and copied below */
    struct working_directory *directory; /* a reference */
    char *code;                          /* owned */
    char **variables;                    /* owned; or NULL */
    json_t *files;                       /* a reference: files that are put into the directory; or
                                            NULL */
    char **arguments;                    /* owned; or NULL */
    char *owner;                         /* owned */

    struct executor *executor;      /* borrowed */
    struct executor_client *client; /* borrowed; NULL once cancelled */
    struct list link;               /* in the client's waiting runs, or among the runs that go */

    enum run_state state;
    bool has_vanished; /* once: what its script was to begin in */
    bool was_refused;  /* once: its delivery */
    struct environment_waiter waiter;
    struct directory_claim claim;
    struct turn turn;
    struct error error;
    struct error_rest error_rest; /* of its message */
    double submitted_at;          /* monotonic seconds */
    double placed_at;
    double prepared_at;
};

struct run *run_new(struct executor *executor, const struct run_request *request,
                    unsigned long number);
void run_free(struct run *run);

/* Its owner has gone; nobody hears of it any more. */
bool run_is_cancelled(const struct run *run);

/* Decides how RUN ended, from the end of its execution and the growth of its directory. */
void run_judge(struct run *run);

/* Everything in it is borrowed from RUN and END. */
struct run_report run_report_of(const struct run *run, const struct process_end *end);

/* Counts RUN, which ends; END is NULL when it was cancelled while it waited. */
void run_count(const struct run *run, const struct process_end *end);

/* Begins a waiting RUN, which has a place now. */
void run_begin(struct run *run);

/* The executor, for its runs */
struct ev_loop *executor_loop(const struct executor *executor);

/* RUN gives up its place, or its place in the queue, for good. */
void executor_leave(struct executor *executor, struct run *run);

/* Whether a run other than RUN has a place and the same directory. */
bool executor_has_another_in(const struct executor *executor, const struct run *run);

/* RUN gives up its place and is the next of its client to get one. */
void executor_requeue(struct executor *executor, struct run *run);
