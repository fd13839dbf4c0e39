/* Requests to the client that go on the stream of one of its own, and wait there for its answers
 * (up to 2025-11-25). */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_request;

enum { INQUIRY_QUESTIONS = 16 }; /* most at once */

struct inquiry_question {
    char *key; /* owned; NULL: answered, or none */
    unsigned number;
};

/* All zero: nothing is asked. */
struct inquiry {
    struct mcp_request *request; /* borrowed: on whose stream; NULL: nothing is asked */
    struct inquiry_question questions[INQUIRY_QUESTIONS];
};

/* Asks QUESTIONS, {method, params} by key, on the stream of REQUEST; nothing may be asked yet. */
int inquiry_send(struct inquiry *inquiry, struct mcp_request *request, json_t *questions,
                 struct error *err);

/* The key of what was asked by NUMBER, and is not asked any more; NULL: it was not. Owned by the
 * caller. */
char *inquiry_take(struct inquiry *inquiry, unsigned number);

/* True when everything is answered. */
bool inquiry_is_over(const struct inquiry *inquiry);

/* Nothing that is not answered is wanted any more. */
void inquiry_withdraw(struct inquiry *inquiry);

/* The same when the request is not there to say it. */
void inquiry_deinit(struct inquiry *inquiry);
