/* What a job asks its client, round after round, and what the client answers.
 *
 * How the client is asked depends on the revision: in an answer of its own, with the state to come
 * back with (2026-07-28), or in requests to the client, while the first one waits (before). A job
 * that has left its request has its keeper ask. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/inquiry.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct job;
struct mcp_request;

#define ROUNDS_PATIENCE_SECONDS 600.0 /* for the client to answer what it is asked */

enum { JOB_ROUNDS = 8 }; /* most, where it is we who come back to the client */

struct rounds {
    json_t *answers; /* what the client has answered so far, by key; owned; NULL: nothing */
    json_t *state;   /* what was kept for this round; owned; NULL: nothing */
    json_t *asked;   /* what is not answered yet, by key; owned; NULL: nothing */
    unsigned count;
    struct inquiry inquiry;   /* that goes to the client, if it is us who ask */
    struct ev_timer patience; /* running while a request waits for that; the job's */
};

void rounds_deinit(struct job *job);

/* Takes over the answers that the request of JOB has brought along. -1 with ERR: they are not the
 * answers to what was asked. */
int rounds_read(struct job *job, struct error *err);

/* Asks what the invocation of JOB, which has ended, wants to know. READY with *RET: the request is
 * answered with that. PENDING: answers come. */
enum outcome rounds_ask(struct job *job, json_t **ret, struct error *err);

/* Asks what JOB, which has left its request, wants to know on the stream of REQUEST. */
int rounds_ask_on(struct job *job, struct mcp_request *request, struct error *err);

/* What JOB asks is not wanted any more, or not on that stream. */
void rounds_stop(struct job *job);

/* What is asked by KEY is answered by ANSWER. True: nothing is left to be answered. */
bool rounds_answer(struct job *job, const char *key, json_t *answer);

/* Prepares the invocation of JOB, which has got all answers, to be started again. */
void rounds_next(struct job *job);
