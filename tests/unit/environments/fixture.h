/* What tests of runs need: a loop, a real process host, a workplace in a scratch directory, a
 * catalog with the environment "system" and an executor; and calls that collect what came back. */
#pragma once

#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/process/process.h"
#include "environments/workplace/working_directory.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct fixture_settings {
    unsigned without;                /* layers that no tree gets */
    unsigned concurrent_runs;        /* 0: 4 */
    unsigned queued_runs;            /* 0: 64 */
    unsigned queued_runs_per_client; /* 0: all of them */
    unsigned queued_runs_per_owner;  /* likewise */
    bool has_path;                   /* a configured working directory, in scratch */
    const char *path;                /* ... or this one */
    struct ev_loop *loop;            /* another fixture's; NULL: one of its own */
    double keep_seconds;
};

struct fixture {
    struct ev_loop *loop;
    bool owns_loop;
    unsigned done; /* calls so far */
    char *scratch; /* owned; removed with all that is in it */
    char *root;    /* owned; of the workplace, in scratch */
    char *path;    /* owned; the configured directory, in scratch */
    struct process_host *host;
    struct workplace *workplace;
    struct catalog *catalog;
    struct executor *executor;
    struct executor_client client;
    struct working_directory *directory; /* of the calls that name none; NULL: not opened yet */
};

/* One submitted run and its end. */
struct call {
    struct fixture *fixture;
    struct run *run;
    bool is_done;
    unsigned order; /* how many of the fixture's were done before */
    enum run_end end;
    struct error error;
    struct disk_share share;
    struct process_end execution;
    char *out; /* owned */
    char *err; /* owned */
    json_t *files;
    char *script;
    char *working_directory;
    char *python_version;
    double total_seconds;
    unsigned outputs; /* times that `output` was called */
};

struct fixture *fixture_new(const struct fixture_settings *settings);

/* Waits until nothing is left of the runs, and frees everything. */
void fixture_free(struct fixture *fixture);

/* The environment "system" with other settings: DEFINITION is JSON text. */
struct environment *fixture_environment(struct fixture *fixture, const char *name,
                                        const char *definition);

/* The catalog is replaced by one that has the environment "system" as DEFINITION says. */
void fixture_replace(struct fixture *fixture, const char *definition);

/* The directory of its calls; borrowed. */
struct working_directory *fixture_directory(struct fixture *fixture);

/* Submits CODE; fails the test when it is refused. */
void call_submit(struct call *call, struct fixture *fixture, const char *code);

/* The same with everything to choose. What REQUEST leaves out is the fixture's. */
void call_submit_as(struct call *call, struct fixture *fixture, struct run_request *request);

/* ... and -1 with ERR when it is refused. */
int call_submit_request(struct call *call, struct fixture *fixture, struct run_request *request,
                        struct error *err);

/* Runs the loop until all COUNT calls are done; fails the test after a minute. */
void calls_wait(struct call *calls, size_t count);
void calls_deinit(struct call *calls, size_t count);

/* Submits, waits. */
void call_execute(struct call *call, struct fixture *fixture, const char *code);
void call_execute_as(struct call *call, struct fixture *fixture, struct run_request *request);

/* Runs the loop for SECONDS. */
void fixture_run_for(struct fixture *fixture, double seconds);
