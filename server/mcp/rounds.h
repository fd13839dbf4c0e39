/* The questions of a job to its client, round after round, and the client's answers.
 *
 * The form of the questions depends on the revision: a response with questions and the state to
 * come back with (2026-07-28), or requests to the client while the first request waits (before). A
 * job that has left its request has its keeper ask. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/inquiry.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct job;
struct mcp_request;

#define ROUNDS_PATIENCE_SECONDS 600.0 /* for the client to answer its questions */

enum { JOB_ROUNDS = 8 }; /* most, where the server sends requests to the client */

struct rounds {
    json_t *answers; /* the client's answers so far, by key; owned; NULL: none */
    json_t *state;   /* the tool's own, kept for this round; owned; NULL: nothing */
    json_t *asked;   /* the open questions, by key; owned; NULL: none */
    unsigned count;
    struct inquiry inquiry;   /* the open requests to the client (up to 2025-11-25) */
    struct ev_timer patience; /* running while a request waits for answers; set up by the job */
};

void rounds_deinit(struct job *job);

/* Reads the answers that the request of JOB carries. -1 with ERR: they do not belong to the
 * questions. */
int rounds_read(struct job *job, struct error *err);

/* Asks the questions with which the invocation of JOB has ended. READY: *RET is the response to the
 * request. PENDING: answers will come. */
enum outcome rounds_ask(struct job *job, json_t **ret, struct error *err);

/* Asks the questions of JOB, which has left its own request, on the stream of REQUEST. */
int rounds_ask_on(struct job *job, struct mcp_request *request, struct error *err);

/* Withdraws the questions of JOB from the stream that they were sent on. */
void rounds_stop(struct job *job);

/* Answers question KEY with ANSWER. True: that was the last open question. */
bool rounds_answer(struct job *job, const char *key, json_t *answer);

/* Prepares the invocation of JOB for the next round: all questions are answered. */
void rounds_next(struct job *job);
