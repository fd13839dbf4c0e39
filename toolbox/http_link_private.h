/* The requests of an HTTP link, for its own files. */
#pragma once

#include "base/buffer.h"
#include "base/curl/transfer.h"
#include "base/list.h"
#include "toolbox/event_reader.h"
#include "toolbox/http_link.h"

enum {
    HTTP_LINK_SESSION_BYTES = 1024, /* of the id of a session */
    HTTP_LINK_STATUS_SESSION = 404, /* of a session that has ended */
};

struct http_post;

struct http_link {
    struct tool_link base;
    struct ev_loop *loop;                   /* borrowed */
    struct transfers *transfers;            /* borrowed */
    const struct server_settings *settings; /* borrowed */
    enum mcp_version version;               /* agreed on; or MCP_VERSION_NONE */
    char *session;                          /* owned; or NULL */
    struct list posts;
    ev_timer reaping; /* at once: frees the posts that are over */
    bool is_closed;
    bool is_broken;

    /* A message has come in; it may be changed in place. */
    void (*take)(struct http_link *link, struct http_post *post, char *text, size_t length);

    /* POST gets no answer. WAS_REFUSED: the server did not take it, since its session has ended. */
    void (*lose)(struct http_link *link, struct http_post *post, struct error *err,
                 bool was_refused);
};

enum http_post_kind {
    HTTP_POST_MESSAGE,
    HTTP_POST_LISTEN, /* a GET: for news beside the answers */
    HTTP_POST_LEAVE,  /* a DELETE, the end of a session */
};

enum http_post_state {
    HTTP_POST_SENT,
    HTTP_POST_PAUSED, /* its stream has ended before the answer; it is asked for again */
    HTTP_POST_OVER,
};

/* A request of HTTP, and further requests for the rest of its stream. */
struct http_post {
    struct list link;
    struct http_link *owner;
    enum http_post_kind kind;
    enum http_post_state state;
    unsigned id; /* of the request of MCP; 0: none */
    bool is_endless;
    bool has_answer;
    unsigned resumptions;
    char *text; /* owned; or NULL */
    struct transfer transfer;
    struct curl_slist *fields; /* owned */
    struct curl_slist *sent;   /* owned: the same, as last sent */
    struct buffer incoming;
    bool is_full; /* `incoming` was */
    struct event_reader events;
    ev_timer pause;
};

/* A request that begins at once. */
struct http_post *http_post_new(struct http_link *link, enum http_post_kind kind,
                                const struct outgoing *message);

/* Ends POST, without telling anybody. It is freed later. */
void http_post_end(struct http_post *post);
void http_post_free(struct http_post *post);
