/* A job: the invocation that a request has started, through all its rounds.
 *
 *     request --- job --- invocation --- what is registered
 *
 * A job belongs to its request and ends with it, unless it is let go to be a task. When what is
 * invoked asks for something, the job is what knows how this revision carries that: in an answer of
 * its own, with the state to come back with (2026-07-28), or in requests to the client, while the
 * first one waits (before). */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/mcp.h"
#include "server/tools/invocation.h"
#include "server/tools/trace.h"

#include <ev.h>
#include <jansson.h>

enum {
    JOB_ROUNDS = 8,    /* most, where the requests to the client are ours */
    JOB_REQUESTS = 16, /* most of one round */
};

struct job;

/* What is different for tools, prompts and resources. */
struct job_kind {
    /* What the method answers when CALL has ended without error. New reference. */
    json_t *(*result)(const struct job *job);

    /* What it answers to an error; NULL, or no such function: ERR is what it answers. New
     * reference. */
    json_t *(*failure)(const struct job *job, const struct error *err);

    /* Says ERR, which is what it answers, in the words of the job's revision. May be NULL. */
    void (*explain)(struct job *job, struct error *err);
};

/* A request to the client that is not answered yet. */
struct job_question {
    const char *key; /* borrowed from `asked`; NULL: answered */
    unsigned number;
};

struct job {
    struct invocation call;
    const struct job_kind *kind;
    struct mcp_server *server;   /* borrowed */
    struct mcp_request *request; /* borrowed: the owner */
    enum mcp_version version;
    json_t *params;   /* owned: the arguments are in them */
    const char *name; /* of what is invoked; borrowed from them */
    struct trace trace;
    bool is_running; /* the invocation is pending */

    /* Rounds. */
    json_t *answers; /* what the client has answered so far, by key; owned; NULL: nothing */
    json_t *state;   /* what was kept for this round; owned; NULL: nothing */
    json_t *asked;   /* what is being asked, by key; owned; NULL: nothing */
    unsigned rounds;
    struct job_question questions[JOB_REQUESTS];
    struct ev_timer patience; /* running while the client is asked */
};

/* A job of KIND for REQUEST, which owns it, with the answers that the request has brought along.
 * NAME (borrowed from its params) is what is invoked, ARGUMENTS (likewise; may be NULL) are for it.
 * NULL with ERR when they are not the answers to what was asked. The call is to be prepared then.
 */
struct job *job_new(struct mcp_request *request, const struct job_kind *kind, const char *name,
                    json_t *arguments, struct error *err);
void job_free(struct job *job);

/* Starts the prepared call of JOB; see mcp_request_start. */
enum outcome job_start(struct job *job, json_t **ret, struct error *err);

/* What the client answered; see mcp_request_answer. */
void job_take_answer(struct job *job, unsigned number, const json_t *result,
                     const struct error *err);

/* What KIND's method answers to FAILED: READY with *RET, or FAILED with ERR. */
enum outcome job_fail(struct job *job, const struct error *failed, json_t **ret, struct error *err);
