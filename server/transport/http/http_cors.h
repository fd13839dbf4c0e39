/* Lets pages of listed origins read the answers to them: the CORS protocol of browsers. */
#pragma once

#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_origin.h"

/* FIELDS, and the fields that let the sending page of EXCHANGE read the response. Owned by the
 * caller. */
char *http_cors_add(const struct http_names *names, const struct http_exchange *exchange,
                    const char *fields);

/* As http_respond, with these fields. */
void http_cors_respond(const struct http_names *names, struct http_exchange *exchange,
                       unsigned status, const char *fields, const char *body, size_t length);

/* As http_refuse, with these fields. */
void http_cors_refuse(const struct http_names *names, struct http_exchange *exchange,
                      unsigned status, const char *fields, int code, const char *message);

/* Answers OPTIONS: which methods and fields a request may have. METHODS: "GET, POST". */
void http_cors_answer_options(const struct http_names *names, struct http_exchange *exchange,
                              const char *methods);
