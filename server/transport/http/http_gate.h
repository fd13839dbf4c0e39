/* The conditions on the head of a request, checked before anything is made for the request. */
#pragma once

#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_origin.h"

#include <stdbool.h>

#define HTTP_GATE_METHODS "GET, POST, DELETE, OPTIONS"

/* Arguments of http_refuse. */
struct http_refusal {
    unsigned status;
    const char *fields;
    int code;
    const char *message;
};

/* REFUSAL is the answer to EXCHANGE. */
void http_gate_refuse(const struct http_names *names, struct http_exchange *exchange,
                      const struct http_refusal *refusal);

/* True when there is a REFUSAL, and EXCHANGE has got it. */
bool http_gate_is_refused(const struct http_names *names, struct http_exchange *exchange,
                          const struct http_refusal *refusal);

/* Host; NULL when it is as it should be. */
const struct http_refusal *http_gate_check_host(const struct http_names *names,
                                                const struct http_exchange *exchange);

/* Origin, path, method; the same. */
const struct http_refusal *http_gate_check_sender(const struct http_names *names,
                                                  const struct http_exchange *exchange);

/* Content-Type, Accept. */
const struct http_refusal *http_gate_check_content(const struct http_exchange *exchange);

bool http_gate_has_method(const struct http_exchange *exchange, const char *method);

/* The client takes events in answer to a POST. */
bool http_gate_lets_stream(const struct http_exchange *exchange);

/* True when VALUE, of Content-Type, is TYPE, whatever its parameters. */
bool http_type_is(const char *value, const char *type);

/* True when VALUE, of Accept, lists TYPE, such as "text/event-stream"; NULL lists all types. */
bool http_accept_lists(const char *value, const char *type);
