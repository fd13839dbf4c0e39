#include "server/transport/http/http_gate.h"

#include "server/transport/http/http_answer.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/socket/entrance.h"

#include <string.h>
#include <strings.h>

/* The values of Content-Type and Accept */

#define BLANKS " \t"

/* Bytes of the media type at the beginning of VALUE. */
static size_t measure_type(const char *value)
{
    return strcspn(value, BLANKS ",;");
}

bool http_type_is(const char *value, const char *type)
{
    size_t length = measure_type(value);
    const char *rest = value + length + strspn(value + length, BLANKS);

    return length == strlen(type) && strncasecmp(value, type, length) == 0 &&
           (*rest == '\0' || *rest == ';');
}

/* RANGE, of LENGTH bytes, is the type itself, all of its kind ("text/"), or all. */
static bool http_accept_includes(const char *range, size_t length, const char *type)
{
    size_t kind = strcspn(type, "/") + 1;

    if (length == strlen("*/*") && strncmp(range, "*/*", length) == 0)
        return true;
    if (length == kind + 1 && range[kind] == '*')
        return strncasecmp(range, type, kind) == 0;
    return length == strlen(type) && strncasecmp(range, type, length) == 0;
}

bool http_accept_lists(const char *value, const char *type)
{
    if (!value)
        return true;
    while (value) {
        value += strspn(value, BLANKS ",");
        if (http_accept_includes(value, measure_type(value), type))
            return true;
        value = strchr(value, ',');
    }
    return false;
}

/* The conditions */

#define JSON   "application/json"
#define EVENTS "text/event-stream"

const struct http_refusal *http_gate_check_host(const struct http_names *names,
                                                const struct http_exchange *exchange)
{
    static const struct http_refusal malformed = {400, "", HTTP_CODE_BAD_REQUEST,
                                                  "Bad Request: one valid Host header is required"};
    static const struct http_refusal other = {
        421, "", HTTP_CODE_BAD_REQUEST,
        "Misdirected Request: this server has another name than the one in Host; the operator "
        "lists further names, with their ports, in http.allowed_hosts"};
    unsigned count = 0;
    const char *host = http_exchange_field(exchange, "Host", &count);

    if (count != 1)
        return &malformed;
    switch (http_names_find_host(names, host, exchange->entrance->port)) {
    case HTTP_HOST_MALFORMED:
        return &malformed;
    case HTTP_HOST_OTHER:
        return &other;
    case HTTP_HOST_OURS:
        break;
    }
    return NULL;
}

static const struct http_refusal *check_origin(const struct http_names *names,
                                               const struct http_exchange *exchange)
{
    static const struct http_refusal foreign = {403, "", HTTP_CODE_BAD_REQUEST,
                                                "Forbidden: pages of this Origin may not call"};
    unsigned count = 0;
    const char *origin = http_exchange_field(exchange, "Origin", &count);
    bool is_admitted =
        count == 1 && http_names_admit_origin(names, origin, exchange->entrance->port);

    return count == 0 || is_admitted ? NULL : &foreign;
}

static const struct http_refusal *check_path(const struct http_exchange *exchange)
{
    static const struct http_refusal nothing = {404, "", HTTP_CODE_BAD_REQUEST, "Not Found"};

    return strcmp(exchange->head.path, exchange->entrance->path) == 0 ? NULL : &nothing;
}

bool http_gate_has_method(const struct http_exchange *exchange, const char *method)
{
    return strcmp(exchange->head.method, method) == 0;
}

static const struct http_refusal *check_method(const struct http_exchange *exchange)
{
    static const struct http_refusal unknown = {405, "Allow: " HTTP_GATE_METHODS "\r\n",
                                                HTTP_CODE_BAD_REQUEST, "Method Not Allowed"};

    return http_gate_has_method(exchange, "POST") || http_gate_has_method(exchange, "GET") ||
                   http_gate_has_method(exchange, "DELETE") ||
                   http_gate_has_method(exchange, "OPTIONS")
               ? NULL
               : &unknown;
}

static const struct http_refusal *check_content_type(const struct http_exchange *exchange)
{
    static const struct http_refusal other = {
        415, "", HTTP_CODE_BAD_REQUEST,
        "Unsupported Media Type: Content-Type must be application/json"};
    unsigned count = 0;
    const char *type = http_exchange_field(exchange, "Content-Type", &count);

    if (!http_gate_has_method(exchange, "POST"))
        return NULL;
    return count == 1 && http_type_is(type, JSON) ? NULL : &other;
}

/* A list may be in several fields. */
static bool http_gate_accepts(const struct http_exchange *exchange, const char *type)
{
    unsigned count = 0;
    const char *first = http_exchange_field(exchange, "Accept", &count);

    if (count < 2)
        return http_accept_lists(first, type);
    for (unsigned i = 0; i < exchange->head.field_count; i++) {
        const struct http_field *field = &exchange->head.fields[i];

        if (strcasecmp(field->name, "Accept") == 0 && http_accept_lists(field->value, type))
            return true;
    }
    return false;
}

bool http_gate_lets_stream(const struct http_exchange *exchange)
{
    return http_gate_accepts(exchange, EVENTS);
}

static const struct http_refusal *check_accept(const struct http_exchange *exchange)
{
    static const struct http_refusal no_events = {
        406, "", HTTP_CODE_BAD_REQUEST, "Not Acceptable: Accept must list text/event-stream"};
    static const struct http_refusal no_json = {
        406, "", HTTP_CODE_BAD_REQUEST,
        "Not Acceptable: Accept must list application/json and text/event-stream"};

    if (http_gate_has_method(exchange, "GET"))
        return http_gate_accepts(exchange, EVENTS) ? NULL : &no_events;
    if (http_gate_has_method(exchange, "POST"))
        return http_gate_accepts(exchange, JSON) ? NULL : &no_json;
    return NULL;
}

/* In the order of the checks, the first that fails. */

const struct http_refusal *http_gate_check_sender(const struct http_names *names,
                                                  const struct http_exchange *exchange)
{
    const struct http_refusal *refusal = check_origin(names, exchange);

    if (!refusal)
        refusal = check_path(exchange);
    return refusal ? refusal : check_method(exchange);
}

const struct http_refusal *http_gate_check_content(const struct http_exchange *exchange)
{
    const struct http_refusal *refusal = check_content_type(exchange);

    return refusal ? refusal : check_accept(exchange);
}

void http_gate_refuse(const struct http_names *names, struct http_exchange *exchange,
                      const struct http_refusal *refusal)
{
    http_cors_refuse(names, exchange, refusal->status, refusal->fields, refusal->code,
                     refusal->message);
}

bool http_gate_is_refused(const struct http_names *names, struct http_exchange *exchange,
                          const struct http_refusal *refusal)
{
    if (refusal)
        http_gate_refuse(names, exchange, refusal);
    return refusal != NULL;
}
