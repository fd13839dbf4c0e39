/* A task: a job that goes on without the request that started it, and whose state clients ask for.
 *
 *     task store --- task --- job --- invocation --- registered entry
 *
 * It is known to its principal only, in the form in which it was made (2025-11-25, or the extension
 * of 2026-07-28), whichever connection asks. Its result is kept until its time to live is over. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "base/protocol/version.h"
#include "server/mcp/job.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct mcp_peer;
struct mcp_request;

struct task_store;

enum task_status {
    TASK_WORKING,
    TASK_INPUT_REQUIRED,
    TASK_COMPLETED, /* final, like the states below */
    TASK_FAILED,
    TASK_CANCELLED,
};

struct task {
    struct list link;            /* in the store */
    struct task_store *store;    /* borrowed: the owner */
    char *id;                    /* nobody can guess it; owned */
    unsigned long number;        /* rises from task to task */
    struct principal *principal; /* the principal that it belongs to; owned reference */
    enum mcp_version version;    /* the revision that it was made at */

    enum task_status status;
    char *message;           /* the last progress message, or the reason of the failure; owned; or
                                NULL */
    struct timespec created; /* by the wall clock, as clients see it */
    struct timespec updated;
    double began; /* by the clock that only rises */
    double ttl;   /* seconds from then; longer while it works */
    double ttl_at_first;

    struct job *job; /* owned; NULL: over */
    struct job_keeper keeper;
    json_t *result;        /* owned; NULL: none, or none yet */
    struct error *failure; /* owned; NULL: none */
    json_t *failure_data;  /* beside it; owned; or NULL */
    size_t bytes;          /* of the result, as JSON */

    struct list waiters;   /* of struct mcp_request, by `waiting`: requests for the result */
    struct mcp_peer *peer; /* borrowed: the session that it came from, which gets its notifications;
                              NULL: there was none, or it is gone */
    struct progress progress;
};

/* As clients see it. */
const char *task_status_name(enum task_status status);

/* A task of which nothing else is known yet. The store makes one. REPLICA: see base/handle.h. */
struct task *task_new(struct task_store *store, const char *replica, unsigned long number,
                      double ttl);

/* Cancels its job. Requests that wait get an error. */
void task_free(struct task *task);

/* Moves JOB (taken) from its request to TASK. */
void task_take(struct task *task, struct job *job);

/* The job has answered its start with OUTCOME and RESULT (taken) or ERR: see outcome.h. */
void task_settle(struct task *task, enum outcome outcome, json_t *result, const struct error *err);

bool task_is_over(const struct task *task);

/* Ends the work, if there is any left. */
void task_cancel(struct task *task);

/* REQUEST waits for the end of the task: READY with *RET, FAILED with ERR, or PENDING. Until then
 * the task asks its questions on the stream of REQUEST. */
enum outcome task_wait(struct task *task, struct mcp_request *request, json_t **ret,
                       struct error *err);

/* Hands over the answer to question NUMBER, which was sent on the stream of a waiting request. */
void task_take_answer(struct task *task, unsigned number, json_t *result, const struct error *err);

/* Takes answers of the extension, by the keys of task_requests; other keys are ignored. */
void task_update(struct task *task, const json_t *answers);

/* The open questions, by keys that TASK uses only once. New reference. */
json_t *task_requests(const struct task *task);
