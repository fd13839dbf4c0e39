/* A request from its arrival to its answer, with its questions to the client. */
#pragma once

#include "base/list.h"
#include "server/mcp/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct batch;
struct message;
struct scan;
struct session;
struct sink;

/* A message on its way in. Everything is borrowed. */
struct arrival {
    json_t *value;
    const struct scan *scan;
    size_t element; /* position in the batch, 0 without one */
    struct batch *batch;
    struct sink *sink;
    const struct mcp_headers *headers;
    size_t bytes;
};

struct call {
    struct list link;        /* in the session */
    struct session *session; /* borrowed: the owner */
    struct sink *sink;   /* borrowed: takes every message that is sent; NULL: nothing is sent any
                            more */
    struct batch *batch; /* borrowed: where the answer goes; NULL: to the sink */
    char *id;            /* JSON text; owned */
    json_t *message;     /* owned: method and params are in it */
    size_t bytes;        /* its share of the session's held_bytes */
    struct mcp_request request;
};

/* A new call for MESSAGE, whose id is taken. SESSION owns it. */
struct call *call_new(struct session *session, const struct arrival *arrival,
                      struct message *message);

/* CALL may be answered, and freed, at once. */
void call_start(struct call *call);

/* The call whose request has ID, or NULL. Borrowed. */
struct call *call_find(const struct session *session, const char *id);

/* Ends CALL without an answer, and tells its sink. */
void call_cancel(struct call *call);

/* Frees CALL, which is over. */
void call_free(struct call *call);

/* Counts one member of BATCH as done, and sends the whole answer after the last one. BATCH may be
 * NULL. */
void call_close_member(struct session *session, struct batch *batch);

/* Hands VALUE, a response of the client, to the call of SESSION whose question it answers. A
 * response to no open question is ignored. */
void call_take_response(const struct session *session, const json_t *value);
