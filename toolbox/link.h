/* The way to an MCP server: a program of ours (stdio_link.h) or HTTP (http_link.h). It carries
 * messages without knowing their meaning. */
#pragma once

#include "base/error.h"
#include "base/protocol/version.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LINK_MESSAGE_BYTES = 6 * 1024 * 1024, /* of a message of the server: a result with its frame */
    LINK_UNSENT_BYTES = 16 * 1024 * 1024, /* that the server has not read */
};

struct tool_link;

/* A message on its way out. Everything is borrowed. */
struct outgoing {
    const char *text;     /* compact JSON */
    unsigned id;          /* of a request; 0: a notification, or an answer to the server */
    const char *method;   /* NULL in an answer */
    const char *tool;     /* that tools/call names; or NULL */
    const json_t *fields; /* further fields of HTTP, array of "Name: value"; or NULL */
    bool is_endless;      /* a request whose answer is a stream without end */
};

/* Told by the link; embedded in its owner. It may send and forget requests meanwhile, but not
 * close the link. */
struct link_listener {
    /* A message has come, any JSON value; borrowed. Its `error` has no secrets. */
    void (*message)(struct link_listener *listener, json_t *message);

    /* The request ID will get no answer; 0: some request, nobody knows which.
     * ERROR_INVALID_REQUEST: the server did not understand it. WAS_REFUSED: the server did not take
     * it, so that it may be sent again. */
    void (*lost)(struct link_listener *listener, unsigned id, const struct error *err,
                 bool was_refused);

    /* Nothing more will come, for any request. Called once; link_close is still to be called. */
    void (*broken)(struct link_listener *listener, const struct error *err);

    /* After link_close: nothing of the server is left here. The link is freed when this returns. */
    void (*gone)(struct link_listener *listener);
};

struct link_ops {
    /* -1 with ERR if the message cannot be sent; then the link is as it was. */
    int (*send)(struct tool_link *link, const struct outgoing *message, struct error *err);

    /* No answer to request ID is wanted; what waits for it is given up. */
    void (*forget)(struct tool_link *link, unsigned id);

    /* The revision has been agreed on. LISTEN: the server has news beside its answers. */
    void (*settle)(struct tool_link *link, enum mcp_version version, bool listen);

    /* Ends the link; `gone` comes later, never from inside. AT_ONCE: without farewell. */
    void (*close)(struct tool_link *link, bool at_once);
};

struct tool_link {
    const struct link_ops *ops;
    struct link_listener *listener; /* borrowed */
    double probe_seconds; /* how long an old server may be silent on a request of the newest
                             revision; 0: it answers */
};

/* Sets ERR to what message_parse has said, FAULT, of an answer of the server. */
void link_explain_answer(const struct error *fault, struct error *err);
