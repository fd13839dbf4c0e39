/* The client's side of MCP, over a link: handshake, requests, their answers and their progress. It
 * speaks all revisions: the newest, whose requests stand alone, and the older ones, with
 * `initialize`. */
#pragma once

#include "base/list.h"
#include "toolbox/link.h"

#include <ev.h>
#include <stdbool.h>

struct dialogue;

enum dialogue_state {
    DIALOGUE_CLOSED,      /* there is no link */
    DIALOGUE_DISCOVERING, /* the newest revision was proposed */
    DIALOGUE_GREETING,    /* `initialize` is on its way */
    DIALOGUE_OPEN,
    DIALOGUE_BROKEN,  /* the link is of no use; dialogue_close is still to be called */
    DIALOGUE_CLOSING, /* the link is going */
};

/* A request under way; embedded in its owner. */
struct dialogue_request {
    /* The end, never from inside dialogue_ask. RESULT is borrowed, an object; NULL with ERR. CODE
     * is that of an error of JSON-RPC, or 0. WAS_REFUSED: it may be sent again. */
    void (*done)(struct dialogue_request *request, json_t *result, const struct error *err,
                 int code, bool was_refused);

    /* PARAMS of notifications/progress, borrowed. NULL: none are wanted. */
    void (*progress)(struct dialogue_request *request, const json_t *params);

    struct list link; /* in its dialogue, while it is under way */
    unsigned id;
};

/* The question of a request. Everything is borrowed. */
struct dialogue_question {
    const char *method;
    json_t *params;       /* or NULL */
    const char *tool;     /* of tools/call; or NULL */
    const json_t *fields; /* see struct outgoing */
    bool is_endless;
};

struct dialogue {
    /* Inputs, set before dialogue_open. */
    struct ev_loop *loop; /* borrowed */
    const char *name;     /* borrowed: of the server */
    const char *version;  /* borrowed: of this program */

    /* The handshake is over; ERR says why it failed, and then the dialogue is broken. Never from
     * inside dialogue_open. */
    void (*opened)(struct dialogue *dialogue, const struct error *err);

    /* The server's list of tools has changed. */
    void (*changed)(struct dialogue *dialogue);

    /* An open dialogue is broken; its requests have been told before. */
    void (*broken)(struct dialogue *dialogue, const struct error *err);

    /* After dialogue_close: nothing of the server is left here. */
    void (*gone)(struct dialogue *dialogue);

    /* Private. */
    enum dialogue_state state;
    enum mcp_version revision; /* once it is open; kept for the next time */
    bool knows_revision;
    bool was_refused;      /* the newest revision, by a server that knows it */
    bool was_silent;       /* it was greeted since it had not answered in time ... */
    bool is_slow;          /* ... but refused that: it gets more time for the first request */
    struct tool_link *way; /* owned; NULL: closed */
    struct link_listener listener;
    struct list requests;
    struct dialogue_request greeting; /* the request of the handshake */
    struct dialogue_request news;     /* subscriptions/listen */
    unsigned last_id;
    ev_timer patience; /* for the handshake */
    struct error fault;
    struct error_rest fault_rest;
};

/* DIALOGUE has its inputs. */
void dialogue_init(struct dialogue *dialogue);

/* Where the link of a closed dialogue reports to; dialogue_open takes that link. */
void dialogue_open(struct dialogue *dialogue, struct tool_link *way /* taken */);

/* Asks over an open dialogue. -1 with ERR when it cannot be sent. */
int dialogue_ask(struct dialogue *dialogue, struct dialogue_request *request,
                 const struct dialogue_question *question, struct error *err);

/* REQUEST is given up, and the server is told. Harmless if it is not under way. */
void dialogue_drop(struct dialogue *dialogue, struct dialogue_request *request, const char *reason);

/* Ends a dialogue that is not closed; its requests must be over. AT_ONCE: without farewell. May be
 * called again with AT_ONCE. */
void dialogue_close(struct dialogue *dialogue, bool at_once);
