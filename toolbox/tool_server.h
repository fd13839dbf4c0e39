/* One MCP server in use: it is reached when it is needed, asked for its tools, called, and left
 * when it has been idle. */
#pragma once

#include "base/list.h"
#include "base/outcome.h"
#include "toolbox/dialogue.h"
#include "toolbox/tool_call.h"
#include "toolbox/tool_list.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct process_host;
struct server_settings;
struct transfers;

/* The means of all servers; borrowed. */
struct tool_server_means {
    struct ev_loop *loop;
    struct process_host *host;
    struct transfers *transfers; /* NULL: there is no libcurl */
    const char *version;         /* of this program */
    double waiting;              /* seconds, for the first list of a program, ... */
    double far_waiting;          /* ... and of a server over HTTP */
};

enum tool_server_state {
    TOOL_SERVER_RESTING, /* nothing of it is here */
    TOOL_SERVER_OPENING, /* the handshake */
    TOOL_SERVER_LISTING, /* its tools are asked for; the older list is used meanwhile */
    TOOL_SERVER_READY,
    TOOL_SERVER_LEAVING, /* it is to be left, when nothing of it is on the stack */
    TOOL_SERVER_CLOSING,
};

struct tool_server {
    struct list link;
    struct tool_server_means means;
    struct server_settings *settings; /* owned: a reference */
    char *principal;                  /* owned: the only one to use it; NULL: all do */
    bool is_retired;                  /* no call comes any more: it is freed when it rests */
    void (*retired)(struct tool_server *server); /* it rests */
    void *data;                                  /* of the caller */

    enum tool_server_state state;
    struct dialogue dialogue;
    struct tool_list tools; /* `tools` NULL: never listed */
    struct tool_list fetched;
    struct dialogue_request fetching;
    bool is_stale; /* the list has changed while it was fetched */
    struct tool_calls calls;
    struct list waiters; /* of struct tool_waiter */
    ev_timer turn;       /* at once: the next step */
    ev_timer idle;
    struct error failure; /* why it could not be reached ... */
    struct error_rest failure_rest;
    double failed; /* ... the last time, by the clock */
    double began;  /* to be reached for its first list, by the clock; 0: it does not keep waiting */
    bool is_tried; /* to be reached, though nobody waits */
};

/* Waits for the list of tools; embedded in its owner. Taken out of its list it is not told. */
struct tool_waiter {
    struct list link;

    /* ERR is NULL: tool_server_tools has them. */
    void (*listed)(struct tool_waiter *waiter, const struct error *err);
};

struct tool_server *tool_server_new(const struct tool_server_means *means,
                                    struct server_settings *settings, const char *principal);

/* SERVER rests. */
void tool_server_free(struct tool_server *server);

/* READY: tool_server_tools has the list. */
enum outcome tool_server_look(struct tool_server *server, struct tool_waiter *waiter,
                              struct error *err);

/* By name, borrowed until the loop turns; NULL before the first. */
const json_t *tool_server_tools(const struct tool_server *server);

/* 0: `done` will come. -1 with ERR: it will not. */
int tool_server_call(struct tool_server *server, struct tool_call *call, struct error *err);

/* Calls go on; when they are over the server is left, and `retired` is called. */
void tool_server_retire(struct tool_server *server);

/* Leaves it now; what is under way fails. AT_ONCE: without farewell. */
void tool_server_leave(struct tool_server *server, bool at_once);

/* "resting", "ready". Static storage. */
const char *tool_server_state_name(const struct tool_server *server);
