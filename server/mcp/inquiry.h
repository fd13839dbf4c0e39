/* Questions to the client, sent on the stream of a request of its own, until they are answered (up
 * to 2025-11-25). */
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

/* Removes question NUMBER and returns its key, owned by the caller. NULL: there is no such
 * question. */
char *inquiry_take(struct inquiry *inquiry, unsigned number);

/* True when everything is answered. */
bool inquiry_is_over(const struct inquiry *inquiry);

/* Withdraws every question that is not answered yet. */
void inquiry_withdraw(struct inquiry *inquiry);

/* Forgets every question without telling the client. */
void inquiry_deinit(struct inquiry *inquiry);
