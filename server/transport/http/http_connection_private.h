/* The inside of http_connection.h: the connection itself, its way in (http_intake.c), and its use
 * by the exchange (http_exchange.c). */
#pragma once

#include "server/transport/http/http_connection.h"

#include <stdbool.h>

/* http_connection.c */

void http_connection_set_state(struct http_connection *connection,
                               enum http_connection_state state);

/* True when so much output is unsent that no further request is read and events that can be dropped
 * are. */
bool http_connection_is_congested(const struct http_connection *connection);

/* Starts and stops the watchers as the state needs them. */
void http_connection_rearm(struct http_connection *connection);

/* Continues with the input in the next turn of the loop, after other connections. */
void http_connection_resume_soon(struct http_connection *connection);

/* Updates deadlines and watchers after output. */
void http_connection_sent(struct http_connection *connection);

/* Calls `gone` if the service still owes a response. */
void http_connection_forsake(struct http_connection *connection);

/* Serves nothing more and enters STATE, in which the client may still take its output. */
void http_connection_end(struct http_connection *connection, enum http_connection_state state);

void http_connection_close(struct http_connection *connection, const char *reason);

/* http_intake.c: input becomes exchanges, one after the other */

/* Serves what has come in, as far as it goes. */
void http_intake_advance(struct http_connection *connection);

/* The client's time limit for input is over at NOW. */
void http_intake_judge(struct http_connection *connection, double now);

/* Refuses the request. The input behind it is not read: its framing is unknown. */
void http_intake_reject(struct http_connection *connection, unsigned status, const char *problem);

/* The response of the exchange is complete. */
void http_intake_responded(struct http_connection *connection);

/* True when the connection can be kept after a response that begins now. */
bool http_intake_can_stay(const struct http_connection *connection);
