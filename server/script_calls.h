/* The calls of tools by one script: who may call what, how often, whether a person has to be asked,
 * and the account.
 *
 *     ASKED      the server of the tool has it, or will have it when it is reached
 *     QUEUED     a person has to approve it, and is asked about another call
 *     QUESTION   a person is asked
 *     WITHDRAWN  its code is to end: neither its server nor a person answers any more
 *
 * It is asked without approval first: the toolbox knows whether one is needed, and says so before
 * anything is sent. */
#pragma once

#include "base/list.h"
#include "environments/script_tools.h"
#include "toolbox/toolbox.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct environment;
struct limits;
struct registry;
struct script_call;

enum {
    SCRIPT_CALLS = 100,                      /* of one turn */
    SCRIPT_CALLS_AT_ONCE = 8,                /* likewise, as the next ones */
    SCRIPT_RESULT_BYTES = 4 * 1024 * 1024,   /* of one result */
    SCRIPT_RESULTS_BYTES = 64 * 1024 * 1024, /* of all results */
};

struct script_calls {
    /* Inputs; borrowed. */
    struct toolbox *toolbox;
    const struct environment *environment; /* that the script runs in */
    const char *principal;                 /* that it belongs to */
    const struct limits *limits;           /* of all principals; NULL: there are none */
    struct script_tools *tools;            /* whose turn is told what the script waits for */

    /* Private. */
    bool has_turn;                /* calls are possible */
    bool is_listing;              /* the script waits for the list of its tools */
    struct script_sender *sender; /* borrowed, in a turn; or NULL */
    unsigned made;                /* calls, in this turn */
    size_t bytes;                 /* of their results */
    struct list pending;          /* of struct script_call: owned */
    unsigned pending_count;
    struct script_call *asking; /* the call that a person is asked about; or NULL */
    enum script_wait wait;
    struct list offers; /* of struct script_offer: owned */
};

void script_calls_init(struct script_calls *calls);

/* The servers in reach of the script at this time. Borrowed. */
struct tool_reach script_calls_reach(const struct script_calls *calls);

/* True when that is anything. */
bool script_calls_are_possible(const struct script_calls *calls);

/* The script waits for the list of its tools, or not any more. */
void script_calls_set_listing(struct script_calls *calls, bool is_listing);

/* Offers the tools of SURVEY in REGISTRY as "server.tool", and for a server that cannot be reached
 * a tool called like it, which says why. REGISTRY ends first. */
void script_calls_offer(struct script_calls *calls, struct registry *registry,
                        const struct tool_survey *survey);

/* The turns of a script; see script_tools.h. */
void script_calls_begin(struct script_calls *calls, struct script_sender *sender);
void script_calls_interrupt(struct script_calls *calls);
json_t *script_calls_end(struct script_calls *calls);

/* Nothing is pending any more. */
void script_calls_deinit(struct script_calls *calls);
