/* The queue: how many runs go at once, which is next, which is refused as "busy".
 *
 * A run goes through WAITING (for a place), PREPARING (its environment), RUNNING and STOPPING. It
 * is the one object that outlives its owner: after run_cancel it is killed, reaped and freed here.
 *
 * A free place goes to the owner that has the fewest runs going, then to its client that has the
 * fewest, then by turns. When all places are taken, an owner that has no run going still gets one,
 * up to twice as many as there are; and so does a client that has none, up to half as many more. So
 * long runs of one do not keep another waiting, and an owner with many clients has no more of the
 * last places than anybody else.
 *
 * Other machines (struct environment_machines) have places of their own, beside those of this one,
 * and no more than they have. The queue in front of them is as long. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "environments/capture.h"
#include "environments/environment.h"
#include "environments/execution.h"
#include "environments/workplace/working_directory.h"

#include <ev.h>
#include <stdbool.h>

struct executor;
struct run;

struct executor_settings {
    struct ev_loop *loop; /* borrowed */
    unsigned concurrent_runs;
    unsigned queued_runs;            /* waiting in all */
    unsigned queued_runs_per_client; /* waiting for one client */
    unsigned queued_runs_per_owner;  /* waiting for one owner */
};

/* The client of runs, for fairness; embedded in the object of a connection. Outlives its runs, or
 * cancels them before it goes. */
struct executor_client {
    struct list link;    /* in the executor, while it has waiting runs */
    struct list waiting; /* of struct run */
    unsigned waiting_count;
};

enum run_end {
    RUN_ENDED, /* by itself; see the wait status */
    RUN_TIMED_OUT,
    RUN_DISK_LIMIT, /* the working directory grew beyond the limit, or what a share allows */
    RUN_FAILED,     /* the script never ran, or its end is not known: see the error */
};

/* Whether a run was a cell of a session (notebook/notebook.h), and whether that session goes on. */
enum run_session {
    RUN_WITHOUT_SESSION,
    RUN_SESSION_KEPT,
    RUN_SESSION_GONE, /* its Python has ended, and its variables with it */
};

struct run_report {
    enum run_end end;
    enum run_session session;
    struct error error;                  /* set for RUN_FAILED; its rest is borrowed */
    struct disk_share share;             /* used up: the reason for a lower limit */
    struct process_end execution;        /* its receipt is borrowed until `done` returns */
    const struct capture *streams;       /* [PROCESS_STREAMS]; borrowed until `done` returns */
    json_t *files;                       /* borrowed until `done` returns */
    bool has_removed_files;              /* some that were there before */
    bool files_are_complete;             /* false: the run may have changed more of them */
    const char *installed;               /* for a session, first, in words; borrowed until `done`
                                            returns; or NULL */
    const json_t *pictures;              /* gallery.h; borrowed until `done` returns; NULL: none are
                                            wanted */
    struct working_directory *directory; /* claimed, and borrowed until `done` returns */
    const char *script;                  /* path; borrowed until `done` returns */
    const char *working_directory;       /* handle; borrowed until `done` returns */
    const json_t *tools;                 /* the calls of tools, by tool; borrowed likewise; NULL:
                                            there were none */
    const char *python_version;          /* borrowed until `done` returns; NULL when it is not
                                            known */
    bool had_longest; /* it timed out after `max_timeout`: its timeout stood still for tools */
    double wait_seconds;
    double prepare_seconds;
    double total_seconds;
};

/* A run as a caller orders it. Borrowed until executor_submit returns; CODE is copied. */
struct run_request {
    struct environment *environment; /* borrowed; outlives the run */
    struct working_directory *directory;
    struct executor_client *client;
    const char *code;
    size_t code_length;
    bool is_text; /* the code is executed as `python3 -c` does; without `recurrence` */
    const char *const
        *variables; /* NULL-terminated NAME=VALUE, for this run only; copied; or NULL */
    const char *const *arguments;  /* NULL-terminated, of the script; copied; or NULL */
    enum isolation isolation;      /* environment_isolation() when DIRECTORY was opened */
    struct recurrence *recurrence; /* the client that is likely to send the same request with other
                                      code; forgotten when the run is cancelled; or NULL */
    json_t *imports;               /* an array: the modules that the code imports; a reference is
                                      kept; or NULL */
    double timeout;                /* seconds, from the start of the process */
    json_t *files; /* see provided_files.h: checked; put into the directory first; a reference is
                      kept; or NULL */

    /* The owner of the run, copied, and the number of runs of the owner that may go at once, from
     * all of its clients; 0: as many as there are places. */
    const char *owner;
    unsigned owner_runs;

    struct script_tools *tools;   /* that the script may call; taken on success; or NULL */
    struct script_sender *sender; /* borrowed until the end, or until it is cancelled; or NULL */

    /* The path of pyexecd-picture, if the report is to have the pictures that the run has left,
     * else NULL; borrowed, outlives the run. */
    const char *picture_helper;

    void *data; /* borrowed: the caller's own, for the callbacks */

    /* The current step of the preparation that the run waits for; STEP is NULL when it is over. May
     * be NULL. */
    void (*progress)(void *data, const struct preparation_step *step);

    /* Output as it comes; may be NULL. */
    void (*output)(void *data, enum process_stream stream, const char *bytes, size_t length);

    /* The end; called once, unless the run is cancelled. The run is gone when it returns. */
    void (*done)(void *data, const struct run_report *report);
};

struct executor *executor_new(const struct executor_settings *settings);

/* Takes the numbers of SETTINGS from now on. Runs that exist already stay. */
void executor_set_limits(struct executor *executor, const struct executor_settings *settings);

/* Cancels every run. `executor_is_idle` becomes true when all are reaped. */
void executor_stop(struct executor *executor);
bool executor_is_idle(const struct executor *executor);

/* How many runs may go at once, clients that have none apart. */
unsigned executor_places(const struct executor *executor);

/* How many runs have a place, and how many wait for one. */
unsigned executor_going(const struct executor *executor);
unsigned executor_waiting(const struct executor *executor);

/* Frees an idle executor. */
void executor_free(struct executor *executor);

void executor_client_init(struct executor_client *client);

/* Takes a run, or NULL with ERROR_BUSY when the queue is full and the run would have to wait.
 * `done` never comes from inside. */
struct run *executor_submit(struct executor *executor, const struct run_request *request,
                            struct error *err);

/* Forgets the owner at once (no callback comes any more) and kills what runs. */
void run_cancel(struct run *run);

/* The current activity of RUN: the step of the preparation that it waits for, else "waiting",
 * "preparing", "running" or "stopping". Borrowed until the loop goes on. */
const char *run_activity(const struct run *run);

/* The newest output line so far; see capture_last_line. Owned by the caller, or NULL. */
char *run_last_line(const struct run *run);

/* The output so far, [PROCESS_STREAMS]. Borrowed until the run ends. */
const struct capture *run_streams(const struct run *run);
