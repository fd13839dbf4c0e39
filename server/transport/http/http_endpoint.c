#include "server/transport/http/http_endpoint.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/authority.h"
#include "server/transport/entrance.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/http/http_gate.h"
#include "server/transport/http/http_metadata.h"
#include "server/transport/http/http_route.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct http_endpoint {
    struct http_service service;
    struct ev_loop *loop;        /* borrowed */
    struct authority *authority; /* borrowed; or NULL */
    char **hosts;                /* owned, with what is in it; NULL-terminated */
    char **origins;              /* the same */
    struct http_names names;
    struct http_calls calls;
    struct http_sessions sessions;
};

/* A request whose head passed what needs no memory, until it is known where it goes. */
struct visit {
    struct http_answer answer;
    struct http_endpoint *endpoint; /* borrowed */
    struct http_exchange *exchange; /* borrowed */
    struct authority_check check;   /* who it is */
    bool is_admitted;
    bool is_whole; /* the body is there */
};

/* Refusing */

static void http_endpoint_refuse(struct http_endpoint *endpoint, struct http_exchange *exchange,
                                 const struct http_refusal *refusal)
{
    http_cors_refuse(&endpoint->names, exchange, refusal->status, refusal->fields, refusal->code,
                     refusal->message);
}

/* True when there is a REFUSAL, and EXCHANGE has got it. */
static bool http_endpoint_is_refused(struct http_endpoint *endpoint, struct http_exchange *exchange,
                                     const struct http_refusal *refusal)
{
    if (refusal)
        http_endpoint_refuse(endpoint, exchange, refusal);
    return refusal != NULL;
}

static const struct http_refusal needs_session = {400, "", HTTP_CODE_BAD_REQUEST,
                                                  "Bad Request: Mcp-Session-Id header is required"};
static const struct http_refusal repeated_session = {
    400, "", HTTP_CODE_BAD_REQUEST, "Bad Request: Mcp-Session-Id header must be there only once"};
static const struct http_refusal no_session = {404, "", HTTP_CODE_NO_SESSION, "Session not found"};
static const struct http_refusal is_open = {400, "", -32600,
                                            "Invalid Request: Server already initialized"};
static const struct http_refusal unknown_version = {
    400, "", HTTP_CODE_BAD_REQUEST, "Bad Request: MCP-Protocol-Version names no known version"};
static const struct http_refusal no_room = {503, "Retry-After: 60\r\n", HTTP_CODE_BAD_REQUEST,
                                            "Service Unavailable: too many sessions"};
static const struct http_refusal needs_events = {
    406, "", HTTP_CODE_BAD_REQUEST, "Not Acceptable: Accept must list text/event-stream"};
static const struct http_refusal only_posts = {405, "Allow: POST\r\n", HTTP_CODE_BAD_REQUEST,
                                               "Method Not Allowed: without a session, POST is"};

/* Where it goes */

static struct http_route_headers read_route_headers(const struct http_exchange *exchange)
{
    struct http_route_headers headers = {0};

    headers.version = http_exchange_field(exchange, "MCP-Protocol-Version", &headers.versions);
    (void)http_exchange_field(exchange, "Mcp-Session-Id", &headers.sessions);
    return headers;
}

/* The session that a request names. */
static struct http_session *find_session(struct visit *visit)
{
    const char *id = http_exchange_field(visit->exchange, "Mcp-Session-Id", NULL);

    return http_sessions_find(&visit->endpoint->sessions, id, visit->check.principal);
}

/* The fields of a request, for the layers below. */
struct fields {
    struct mcp_headers headers;
    const struct http_exchange *exchange; /* borrowed */
};

static const char *find_field(const struct mcp_headers *headers, const char *name,
                              unsigned *ret_count)
{
    return http_exchange_field(CONTAINER_OF(headers, struct fields, headers)->exchange, name,
                               ret_count);
}

static void take_alone(struct visit *visit, struct incoming *incoming)
{
    struct fields fields = {.headers.find = find_field, .exchange = visit->exchange};
    bool streams = http_gate_lets_stream(visit->exchange);

    if (incoming_is_endless(incoming) && !streams)
        http_endpoint_refuse(visit->endpoint, visit->exchange, &needs_events);
    else
        http_call_start(&visit->endpoint->calls, incoming, visit->exchange, visit->check.principal,
                        &fields.headers, streams);
}

static void take_in_session(struct visit *visit, struct http_session *session,
                            struct incoming *incoming)
{
    struct fields fields = {.headers.find = find_field, .exchange = visit->exchange};

    http_session_take(session, incoming, visit->exchange, &fields.headers,
                      http_gate_lets_stream(visit->exchange));
}

static void open_session(struct visit *visit, struct incoming *incoming)
{
    struct http_session *session =
        http_sessions_open(&visit->endpoint->sessions, visit->check.principal);

    if (!session) {
        http_endpoint_refuse(visit->endpoint, visit->exchange, &no_room);
        return;
    }
    take_in_session(visit, session, incoming);
    if (!http_session_is_open(session))
        http_sessions_close(session);
}

static void http_endpoint_route(struct visit *visit, struct incoming *incoming)
{
    struct http_endpoint *endpoint = visit->endpoint;
    struct http_route_headers headers = read_route_headers(visit->exchange);
    struct http_session *session = headers.sessions == 1 ? find_session(visit) : NULL;

    switch (http_route(incoming->kind, &headers)) {
    case HTTP_ROUTE_ALONE:
        take_alone(visit, incoming);
        break;
    case HTTP_ROUTE_OPEN:
        open_session(visit, incoming);
        break;
    case HTTP_ROUTE_SESSION:
        if (session)
            take_in_session(visit, session, incoming);
        else
            http_endpoint_refuse(endpoint, visit->exchange, &no_session);
        break;
    case HTTP_ROUTE_NEEDS_SESSION:
        http_endpoint_refuse(endpoint, visit->exchange, &needs_session);
        break;
    case HTTP_ROUTE_IS_OPEN:
        http_endpoint_refuse(endpoint, visit->exchange, session ? &is_open : &no_session);
        break;
    case HTTP_ROUTE_UNKNOWN_VERSION:
        http_endpoint_refuse(endpoint, visit->exchange, &unknown_version);
        break;
    case HTTP_ROUTE_REPEATED_SESSION:
        http_endpoint_refuse(endpoint, visit->exchange, &repeated_session);
        break;
    }
}

static void http_endpoint_post(struct visit *visit)
{
    struct incoming incoming;

    incoming_init(&incoming, visit->exchange->body, visit->exchange->body_length);
    http_endpoint_route(visit, &incoming);
    incoming_deinit(&incoming);
}

/* GET and DELETE belong to a session. */
static struct http_session *find_session_or_refuse(struct visit *visit)
{
    struct http_route_headers headers = read_route_headers(visit->exchange);
    struct http_session *session = headers.sessions == 1 ? find_session(visit) : NULL;

    if (headers.sessions == 0)
        http_endpoint_refuse(visit->endpoint, visit->exchange, &only_posts);
    else if (headers.sessions > 1)
        http_endpoint_refuse(visit->endpoint, visit->exchange, &repeated_session);
    else if (http_route(INCOMING_OTHER, &headers) == HTTP_ROUTE_UNKNOWN_VERSION)
        http_endpoint_refuse(visit->endpoint, visit->exchange, &unknown_version);
    else if (!session)
        http_endpoint_refuse(visit->endpoint, visit->exchange, &no_session);
    else
        return session;
    return NULL;
}

static void http_endpoint_get(struct visit *visit)
{
    struct http_session *session = find_session_or_refuse(visit);

    if (session)
        http_session_listen(session, visit->exchange,
                            http_exchange_field(visit->exchange, "Last-Event-ID", NULL));
}

static void end_session(struct visit *visit)
{
    struct http_session *session = find_session_or_refuse(visit);

    if (!session)
        return;
    http_sessions_close(session);
    http_cors_respond(&visit->endpoint->names, visit->exchange, 204, "", NULL, 0);
}

/* One request */

static void visit_free(struct visit *visit)
{
    authority_check_deinit(&visit->check);
    free(visit);
}

/* Until a whole request has come in a connection is a stranger's, so that those that drip keep
 * nobody out. */
static void http_endpoint_serve(struct visit *visit)
{
    if (!http_exchange_admit(visit->exchange)) {
        visit_free(visit);
        return;
    }
    if (http_gate_has_method(visit->exchange, "POST"))
        http_endpoint_post(visit);
    else if (http_gate_has_method(visit->exchange, "GET"))
        http_endpoint_get(visit);
    else
        end_session(visit);
    visit_free(visit);
}

static void refuse_stranger(struct visit *visit)
{
    AUTO_FREE char *fields = visit->check.challenge
                                 ? memory_format("WWW-Authenticate: %s\r\n", visit->check.challenge)
                                 : memory_copy_string("");

    http_endpoint_refuse(visit->endpoint, visit->exchange,
                         &(struct http_refusal){visit->check.status, fields, HTTP_CODE_BAD_REQUEST,
                                                "a valid token is required"});
}

/* It is known who it is. */
static void http_endpoint_admit(struct visit *visit)
{
    if (visit->check.status != 0)
        refuse_stranger(visit);
    else if (!http_endpoint_is_refused(visit->endpoint, visit->exchange,
                                       http_gate_check_content(visit->exchange)))
        visit->is_admitted = true;
    if (!visit->is_admitted)
        visit_free(visit);
    else if (visit->is_whole)
        http_endpoint_serve(visit);
}

static void http_endpoint_on_checked(struct authority_check *check)
{
    http_endpoint_admit(CONTAINER_OF(check, struct visit, check));
}

static void http_endpoint_on_visit_gone(struct http_answer *answer)
{
    visit_free(CONTAINER_OF(answer, struct visit, answer));
}

static struct visit *visit_new(struct http_endpoint *endpoint, struct http_exchange *exchange)
{
    struct visit *visit = NEW(struct visit);
    unsigned count = 0;
    const char *authorization = http_exchange_field(exchange, "Authorization", &count);

    visit->endpoint = endpoint;
    visit->exchange = exchange;
    visit->answer.gone = http_endpoint_on_visit_gone;
    exchange->data = &visit->answer;
    visit->check = (struct authority_check){
        .authority = endpoint->authority,
        .peer = *exchange->peer,
        .authorization = count > 1 ? "" : authorization,
        .done = http_endpoint_on_checked,
    };
    return visit;
}

/* Whoever comes by a unix socket is known to the kernel. */
static bool needs_token(const struct visit *visit)
{
    return visit->endpoint->authority && visit->exchange->peer->family != AF_UNIX;
}

/* Nobody needs the token any more. It is in the text of the head, which is ours. */
static void wipe_token(struct http_exchange *exchange)
{
    for (unsigned i = 0; i < exchange->head.field_count; i++) {
        const struct http_field *field = &exchange->head.fields[i];

        if (strcasecmp(field->name, "Authorization") == 0)
            explicit_bzero((char *)field->value, strlen(field->value));
    }
}

static void http_endpoint_identify(struct visit *visit)
{
    enum outcome outcome = OUTCOME_READY;

    if (needs_token(visit))
        outcome = authority_check(&visit->check);
    else
        peer_format_principal(visit->exchange->peer, visit->check.principal);
    wipe_token(visit->exchange);
    if (outcome == OUTCOME_READY)
        http_endpoint_admit(visit);
}

/* The service */

static void http_endpoint_on_head(struct http_service *service, struct http_exchange *exchange)
{
    struct http_endpoint *endpoint = CONTAINER_OF(service, struct http_endpoint, service);

    if (http_endpoint_is_refused(endpoint, exchange,
                                 http_gate_check_host(&endpoint->names, exchange)) ||
        http_metadata_answer(endpoint->authority, exchange) ||
        http_endpoint_is_refused(endpoint, exchange,
                                 http_gate_check_sender(&endpoint->names, exchange)))
        return;
    if (http_gate_has_method(exchange, "OPTIONS"))
        http_cors_answer_options(&endpoint->names, exchange, HTTP_GATE_METHODS);
    else
        http_endpoint_identify(visit_new(endpoint, exchange));
}

static void http_endpoint_on_request(struct http_service *service, struct http_exchange *exchange)
{
    struct visit *visit = CONTAINER_OF(exchange->data, struct visit, answer);

    (void)service;
    visit->is_whole = true;
    if (visit->is_admitted)
        http_endpoint_serve(visit);
}

static void http_endpoint_on_gone(struct http_service *service, struct http_exchange *exchange)
{
    struct http_answer *answer = exchange->data;

    (void)service;
    if (answer)
        answer->gone(answer);
}

static void http_endpoint_on_drained(struct http_service *service, struct http_exchange *exchange)
{
    struct http_answer *answer = exchange->data;

    (void)service;
    answer->drained(answer);
}

/* The endpoint itself */

static char **copy_list(const char *const *list)
{
    static const char *const none[] = {NULL};
    size_t count = 0;
    char **copy;

    list = list ? list : none;
    while (list[count])
        count++;
    copy = memory_new(count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        copy[i] = memory_copy_string(list[i]);
    return copy;
}

static void free_list(char **list)
{
    for (char **text = list; *text; text++)
        free(*text);
    free(list);
}

struct http_endpoint *http_endpoint_new(const struct http_endpoint_settings *settings)
{
    struct http_endpoint *endpoint = NEW(struct http_endpoint);

    endpoint->service = (struct http_service){.head = http_endpoint_on_head,
                                              .request = http_endpoint_on_request,
                                              .gone = http_endpoint_on_gone,
                                              .drained = http_endpoint_on_drained};
    endpoint->loop = settings->loop;
    endpoint->authority = settings->authority;
    endpoint->hosts = copy_list(settings->allowed_hosts);
    endpoint->origins = copy_list(settings->allowed_origins);
    endpoint->names = (struct http_names){(const char *const *)endpoint->hosts,
                                          (const char *const *)endpoint->origins};
    endpoint->calls = (struct http_calls){
        .loop = settings->loop, .server = settings->server, .names = &endpoint->names};
    http_calls_init(&endpoint->calls);
    endpoint->sessions = (struct http_sessions){
        .loop = settings->loop,
        .server = settings->server,
        .names = &endpoint->names,
        .most = settings->sessions,
        .idle_seconds = settings->session_idle_seconds,
    };
    http_sessions_init(&endpoint->sessions);
    return endpoint;
}

void http_endpoint_free(struct http_endpoint *endpoint)
{
    if (!endpoint)
        return;
    http_sessions_deinit(&endpoint->sessions);
    http_calls_deinit(&endpoint->calls);
    free_list(endpoint->hosts);
    free_list(endpoint->origins);
    free(endpoint);
}

struct http_service *http_endpoint_service(struct http_endpoint *endpoint)
{
    return &endpoint->service;
}

unsigned http_endpoint_session_count(const struct http_endpoint *endpoint)
{
    return endpoint->sessions.count;
}

void http_endpoint_stop(struct http_endpoint *endpoint)
{
    http_sessions_end(&endpoint->sessions);
    http_calls_conclude(&endpoint->calls);
}
