/* A job: the invocation that a request has started, through all its rounds.
 *
 *     request --- job --- invocation --- what is registered
 *
 *     PREPARED -> RUNNING -> ASKING -> RUNNING ... OVER
 *
 * A job belongs to its request and ends with it, unless it is let go to be a task. When the
 * invocation asks for something, its rounds ask the client. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "base/protocol/version.h"
#include "server/mcp/aside.h"
#include "server/mcp/rounds.h"
#include "server/tools/invocation.h"
#include "server/tools/trace.h"

#include <ev.h>
#include <jansson.h>

struct mcp_request;
struct mcp_server;

struct job;

/* The progress of one request, for a client that has asked to hear of it. */
struct progress {
    json_t *token; /* borrowed from its params; NULL: no progress wanted */
    double told;   /* the last */
};

/* TOKEN may be NULL. */
void progress_init(struct progress *progress, json_t *token);

/* The params of a progress notification for VALUE; NULL when VALUE has not risen since the last
 * one. TOTAL < 0: unknown; MESSAGE may be NULL. New reference. */
json_t *progress_next(struct progress *progress, enum mcp_version version, double value,
                      double total, const char *message);

/* The differences between tools, prompts and resources. */
struct job_kind {
    /* The answer of the method when JOB's invocation has ended without error. New reference. */
    json_t *(*result)(const struct job *job);

    /* The result that stands for ERR. NULL, or no such function: the method answers with ERR. New
     * reference. */
    json_t *(*failure)(const struct job *job, const struct error *err);

    /* Adapts ERR, which the method answers with, to the job's revision. May be NULL. */
    void (*explain)(struct job *job, struct error *err);
};

/* The owner of a job that has left its request. */
struct job_keeper {
    /* Messages on the way. MESSAGE may be NULL; DATA is taken. */
    void (*progress)(struct job_keeper *keeper, double progress, double total, const char *message);
    void (*log)(struct job_keeper *keeper, enum log_severity level, const char *logger,
                json_t *data);

    /* The client is to be asked the questions in job->rounds.asked; see job_answer. */
    void (*ask)(struct job_keeper *keeper);

    /* The end; see mcp_request.done. The job may be freed. */
    void (*done)(struct job_keeper *keeper, json_t *result, const struct error *err);
};

enum job_state {
    JOB_PREPARED, /* its call can be started */
    JOB_RUNNING,  /* waits for its call */
    JOB_ASKING,   /* waits for answers of the client */
    JOB_OVER,
};

struct job {
    enum job_state state;
    struct invocation invocation;
    struct rounds rounds;
    struct aside aside;
    const struct job_kind *kind;
    struct mcp_server *server;   /* borrowed */
    struct mcp_request *request; /* borrowed: the owner; NULL once the keeper is the owner */
    struct job_keeper *keeper;   /* borrowed: the owner then */
    enum mcp_version version;
    json_t *params;   /* owned: the arguments are in them */
    const char *name; /* of the invoked entry; borrowed from `params` */
    struct trace trace;
    char *message;        /* its last progress message; owned; NULL: there was none */
    json_t *error_data;   /* of the final error, when no request holds it; owned; or NULL */
    struct ev_timer stay; /* running until the job leaves its request */
    void (*leave)(struct job *job); /* called when `stay` fires */
};

/* A job of KIND, owned by REQUEST, with the answers that the request carries. It invokes NAME with
 * ARGUMENTS (may be NULL); both are borrowed from the params. NULL with ERR when the answers do not
 * belong to the questions. The caller prepares the call next. */
struct job *job_new(struct mcp_request *request, const struct job_kind *kind, const char *name,
                    json_t *arguments, struct error *err);
void job_free(struct job *job);

/* Starts the prepared call of JOB; see mcp_request_start. */
enum outcome job_start(struct job *job, json_t **ret, struct error *err);

/* Stops JOB, which can then be freed. */
void job_cancel(struct job *job);

/* Takes the client's answer; see mcp_request_answer. */
void job_take_answer(struct job *job, unsigned number, json_t *result, const struct error *err);

/* Leaving the request */

/* Calls LEAVE after SECONDS if JOB is still running then and has asked for nothing. */
void job_leave_after(struct job *job, double seconds, void (*leave)(struct job *job));

/* Moves JOB from its request to KEEPER, which owns it from now on. */
void job_leave(struct job *job, struct job_keeper *keeper);

/* Answers question KEY with ANSWER. The last answer starts the next round of JOB, which has left
 * its request. */
void job_answer(struct job *job, const char *key, json_t *answer);

/* The answer of the method when the invocation has FAILED: READY with *RET, or FAILED with ERR. */
enum outcome job_fail(struct job *job, const struct error *failed, json_t **ret, struct error *err);
