/* A question to the client's user while an invocation goes on, asked on the stream of its request
 * (up to 2025-11-25). */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct invocation_aside;
struct mcp_request;

/* Embedded in the job. */
struct aside {
    struct ev_loop *loop;        /* borrowed, as all but the question */
    struct mcp_request *request; /* on whose stream it is asked */
    struct invocation_aside *of; /* NULL: nothing is asked */
    json_t *question;            /* {method, params}; owned */
    unsigned number;             /* of the question */
    struct ev_timer patience;
    bool is_in_vain; /* it has run out once: nobody is there to be asked */
};

void aside_init(struct aside *aside, struct ev_loop *loop);

/* Asks QUESTION (taken), as the newest revision has it; nothing may be asked yet. NULL: OF will be
 * answered. Else why nobody is asked; static storage. */
const char *aside_ask(struct aside *aside, struct mcp_request *request, struct invocation_aside *of,
                      json_t *question);

/* The client's answer to question NUMBER. False: it is not this one. */
bool aside_take(struct aside *aside, unsigned number, json_t *result, const struct error *err);

/* Withdraws the question, if there is one; `answered` does not come. */
void aside_withdraw(struct aside *aside);

/* Withdraws it, too, and answers it with WHY_NOT. */
void aside_give_up(struct aside *aside, const char *why_not);
