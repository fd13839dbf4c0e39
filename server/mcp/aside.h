/* Questions to the client's user while an invocation goes on, asked one after the other on the
 * stream of its request (up to 2025-11-25). */
#pragma once

#include "base/error.h"
#include "base/list.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct invocation_aside;
struct mcp_request;

/* Embedded in the job. */
struct aside {
    struct ev_loop *loop;        /* borrowed, as all but the question */
    struct mcp_request *request; /* on whose stream it is asked */
    struct invocation_aside *of; /* who asks now; NULL: nothing is asked */
    struct list waiting;         /* of the others: invocation_aside.link */
    json_t *question;            /* {method, params}; owned */
    unsigned number;             /* of the question */
    struct ev_timer patience;
    const char *why_not; /* nobody is asked any more; static storage; or NULL */
};

void aside_init(struct aside *aside, struct ev_loop *loop);

/* Asks QUESTION (taken), as the newest revision has it, after those of others. OF asks nothing yet.
 * NULL: OF will be answered. Else why nobody is asked; static storage. */
const char *aside_ask(struct aside *aside, struct mcp_request *request, struct invocation_aside *of,
                      json_t *question);

/* The client's answer to question NUMBER. False: that is not asked. */
bool aside_take(struct aside *aside, unsigned number, json_t *result, const struct error *err);

/* Withdraws the question of OF, if it has one; `answered` does not come. */
void aside_withdraw(struct aside *aside, struct invocation_aside *of);

/* Withdraws all questions; `answered` does not come. */
void aside_end(struct aside *aside);

/* Withdraws them, and answers them with WHY_NOT. Nothing is asked from then on, because of LATER;
 * both have static storage. */
void aside_give_up(struct aside *aside, const char *why_not, const char *later);
