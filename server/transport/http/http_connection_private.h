/* The inside of http_connection.h: the connection itself, its way in (http_intake.c), and what its
 * exchange does with it (http_exchange.c). */
#pragma once

#include "server/transport/http/http_connection.h"

#include <stdbool.h>

/* http_connection.c */

void http_connection_set_state(struct http_connection *connection,
                               enum http_connection_state state);

/* The service has to do without a further request, the client without an event that can be left
 * out. */
bool http_connection_is_congested(const struct http_connection *connection);

/* Makes the watchers fit what the connection waits for. */
void http_connection_rearm(struct http_connection *connection);

/* There is more to be done with what came in, after others had their turn. */
void http_connection_resume_soon(struct http_connection *connection);

/* Makes everything fit after something was sent. */
void http_connection_sent(struct http_connection *connection);

/* Tells the service that nobody is there to respond to, if it still owes the response. */
void http_connection_forsake(struct http_connection *connection);

/* Serves no more: STATE says what of what was sent the client may still take. */
void http_connection_end(struct http_connection *connection, enum http_connection_state state);

void http_connection_close(struct http_connection *connection, const char *reason);

/* http_intake.c: what comes in becomes exchanges, one after the other */

/* Serves what has come in, as far as it goes. */
void http_intake_advance(struct http_connection *connection);

/* It is NOW later than the client should have sent what is awaited. */
void http_intake_judge(struct http_connection *connection, double now);

/* Answers what we find wrong ourselves; nothing is understood of what follows. */
void http_intake_reject(struct http_connection *connection, unsigned status, const char *problem);

/* The response of the exchange is complete. */
void http_intake_responded(struct http_connection *connection);

/* True when the connection can be kept after a response that begins now. */
bool http_intake_can_stay(const struct http_connection *connection);
