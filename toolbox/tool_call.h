/* One call of a tool of another server. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "toolbox/dialogue.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct server_settings;
struct tool_calls;
struct tool_list;

enum tool_call_state {
    TOOL_CALL_WAITING, /* for its server */
    TOOL_CALL_ASKED,
    TOOL_CALL_OVER,
};

struct tool_call {
    /* Inputs, set before toolbox_call; borrowed until the call is over. */
    const char *server;
    const char *tool;
    json_t *arguments; /* an object, or NULL */
    double timeout;    /* seconds; 0, or more than its server's: that */
    bool is_approved;  /* by a person, who was shown all of the above */

    /* PARAMS of notifications/progress, without secrets; borrowed. May be NULL. */
    void (*progress)(struct tool_call *call, const json_t *params);

    /* The end, never from inside toolbox_call. RESULT is a CallToolResult, without secrets,
     * borrowed: whatever the tool or the server says about the call is in it (isError). NULL with
     * ERR: ERROR_TIMEOUT; ERROR_UNAVAILABLE: the server is not reached; ERROR_UNKNOWN_TOOL;
     * ERROR_UNAPPROVED: a person has to be asked, and nothing was sent;
     * ERROR_LIMIT or ERROR_BUSY: too large, too many, too often. */
    void (*done)(struct tool_call *call, json_t *result, const struct error *err);

    /* Private. */
    enum tool_call_state state;
    struct list link;
    struct tool_calls *owner; /* borrowed */
    const char *principal;    /* borrowed: whose call it is */
    struct dialogue_request request;
    json_t *request_state; /* owned: what the server wants to see again; or NULL */
    unsigned rounds;
    bool was_refused; /* once, by a server that did not take it */
    double began;     /* by the clock */
    ev_timer deadline;
};

/* The calls of one server. */
struct tool_calls {
    /* Inputs; borrowed. */
    struct dialogue *dialogue;
    const struct server_settings *settings;
    const struct tool_list *tools;

    /* A call is over, or waits again; DOUBT: its server refused what its list offers. */
    void (*moved)(struct tool_calls *calls, bool doubt);

    /* Private. */
    struct list list;
    unsigned count;
    struct list rates; /* of principals that have called */
};

void tool_calls_init(struct tool_calls *calls);

/* All of them are over. */
void tool_calls_deinit(struct tool_calls *calls);

/* CALL waits; its time begins. -1 with ERR if its principal has too many. */
int tool_calls_add(struct tool_calls *calls, struct tool_call *call, struct error *err);

/* Sends the calls that wait; their dialogue is open, and the list of tools is known. */
void tool_calls_send(struct tool_calls *calls);

/* All of them fail. */
void tool_calls_fail(struct tool_calls *calls, const struct error *err);

/* Gives CALL up, and tells the server; `done` does not come. Harmless when it is over. */
void tool_call_cancel(struct tool_call *call);
