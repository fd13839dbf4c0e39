#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "base/state.h"
#include "base/text.h"
#include "server/transport/http/http_answer.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/http/http_endpoint_private.h"
#include "server/transport/http/http_forward.h"
#include "server/transport/http/http_gate.h"
#include "server/transport/http/http_route.h"
#include "server/transport/http/replicas.h"
#include "server/transport/identity/authority.h"
#include "server/transport/identity/holder.h"
#include "server/transport/socket/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum http_visit_state {
    HTTP_VISIT_ARRIVING, /* the principal and the body are awaited */
    HTTP_VISIT_WHOLE,    /* the principal is awaited */
    HTTP_VISIT_ADMITTED, /* the body is awaited */
    HTTP_VISIT_PASSED,   /* another replica answers it */
    HTTP_VISIT_SERVED,
};

/* A request whose head has passed the checks that need no memory, until its handler is known. */
struct http_visit {
    enum http_visit_state state;
    struct http_answer answer;
    struct http_endpoint *endpoint; /* borrowed */
    struct http_exchange *exchange; /* borrowed */
    struct authority_check check;   /* finds the principal */
    bool is_sealed;                 /* another replica sends it, with ... */
    struct replica_seal seal;
    struct http_forward *forward; /* owned; while PASSED */
};

static const struct state http_visit_states[] = {
    [HTTP_VISIT_ARRIVING] = {"arriving", 1 << HTTP_VISIT_WHOLE | 1 << HTTP_VISIT_ADMITTED},
    [HTTP_VISIT_WHOLE] = {"whole", 1 << HTTP_VISIT_SERVED | 1 << HTTP_VISIT_PASSED},
    [HTTP_VISIT_ADMITTED] = {"admitted", 1 << HTTP_VISIT_SERVED | 1 << HTTP_VISIT_PASSED},
    [HTTP_VISIT_PASSED] = {"passed", 1 << HTTP_VISIT_SERVED},
    [HTTP_VISIT_SERVED] = {"served", 0},
};

static void http_visit_set_state(struct http_visit *visit, enum http_visit_state state)
{
    state_change(http_visit_states, visit->state, state, "http request %s",
                 visit->exchange->head.method);
    visit->state = state;
}

/* Refusing */

static const struct http_refusal needs_session = {400, "", HTTP_CODE_BAD_REQUEST,
                                                  "Bad Request: Mcp-Session-Id header is required"};
static const struct http_refusal repeated_session = {
    400, "", HTTP_CODE_BAD_REQUEST, "Bad Request: Mcp-Session-Id header must be there only once"};
static const struct http_refusal no_session = {404, "", HTTP_CODE_NO_SESSION, "Session not found"};
static const struct http_refusal answers_nothing = {
    400, "", HTTP_CODE_INVALID_REQUEST,
    "Invalid Request: a response, but servers of this revision send no requests"};
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
static struct http_session *find_session(struct http_visit *visit)
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

static void take_alone(struct http_visit *visit, struct incoming *incoming)
{
    struct fields fields = {.headers.find = find_field, .exchange = visit->exchange};
    bool streams = http_gate_lets_stream(visit->exchange);

    if (incoming_is_endless(incoming) && !streams)
        http_gate_refuse(&visit->endpoint->names, visit->exchange, &needs_events);
    else
        http_call_start(&visit->endpoint->calls, incoming, visit->exchange, visit->check.principal,
                        &fields.headers, streams);
}

static void take_in_session(struct http_visit *visit, struct http_session *session,
                            struct incoming *incoming)
{
    struct fields fields = {.headers.find = find_field, .exchange = visit->exchange};

    http_session_take(session, incoming, visit->exchange, &fields.headers,
                      http_gate_lets_stream(visit->exchange));
}

/* The kernel identifies clients of unix sockets. */
static bool needs_token(const struct http_visit *visit)
{
    return visit->endpoint->authority && visit->exchange->peer->family != AF_UNIX;
}

static struct holder http_visit_holder(const struct http_visit *visit)
{
    return holder_of(visit->exchange->peer, needs_token(visit) ? visit->check.principal : NULL);
}

static void open_session(struct http_visit *visit, struct incoming *incoming)
{
    const struct holder holder = http_visit_holder(visit);
    struct http_session *session =
        http_sessions_open(&visit->endpoint->sessions, visit->check.principal, &holder);

    if (!session) {
        http_gate_refuse(&visit->endpoint->names, visit->exchange, &no_room);
        return;
    }
    take_in_session(visit, session, incoming);
    if (!http_session_is_open(session))
        http_sessions_close(session);
}

static void refuse_to_open_again(struct http_visit *visit, const struct incoming *incoming)
{
    AUTO_FREE char *id = message_id_text(json_object_get(incoming->value, "id"),
                                         scan_find(&incoming->scan, 0, SCAN_ID));
    AUTO_FREE char *body = NULL;
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_INVALID_REQUEST, "Server already initialized");
    body = message_error(id, &err, NULL);
    http_cors_respond(&visit->endpoint->names, visit->exchange, 400, "", body, strlen(body));
}

static void http_visit_route(struct http_visit *visit, struct incoming *incoming)
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
            http_gate_refuse(&endpoint->names, visit->exchange, &no_session);
        break;
    case HTTP_ROUTE_NEEDS_SESSION:
        http_gate_refuse(&endpoint->names, visit->exchange, &needs_session);
        break;
    case HTTP_ROUTE_ANSWERS_NOTHING:
        http_gate_refuse(&endpoint->names, visit->exchange, &answers_nothing);
        break;
    case HTTP_ROUTE_IS_OPEN:
        if (session)
            refuse_to_open_again(visit, incoming);
        else
            http_gate_refuse(&endpoint->names, visit->exchange, &no_session);
        break;
    case HTTP_ROUTE_UNKNOWN_VERSION:
        http_gate_refuse(&endpoint->names, visit->exchange, &unknown_version);
        break;
    case HTTP_ROUTE_REPEATED_SESSION:
        http_gate_refuse(&endpoint->names, visit->exchange, &repeated_session);
        break;
    }
}

static void http_visit_post(struct http_visit *visit)
{
    struct incoming incoming;

    incoming_init(&incoming, visit->exchange->body, visit->exchange->body_length);
    http_visit_route(visit, &incoming);
    incoming_deinit(&incoming);
}

/* GET and DELETE belong to a session. */
static struct http_session *find_session_or_refuse(struct http_visit *visit)
{
    struct http_route_headers headers = read_route_headers(visit->exchange);
    struct http_session *session = headers.sessions == 1 ? find_session(visit) : NULL;

    if (headers.sessions == 0)
        http_gate_refuse(&visit->endpoint->names, visit->exchange, &only_posts);
    else if (headers.sessions > 1)
        http_gate_refuse(&visit->endpoint->names, visit->exchange, &repeated_session);
    else if (http_route(INCOMING_NOTIFICATION, &headers) == HTTP_ROUTE_UNKNOWN_VERSION)
        http_gate_refuse(&visit->endpoint->names, visit->exchange, &unknown_version);
    else if (!session)
        http_gate_refuse(&visit->endpoint->names, visit->exchange, &no_session);
    else
        return session;
    return NULL;
}

static void http_visit_get(struct http_visit *visit)
{
    struct http_session *session = find_session_or_refuse(visit);

    if (session)
        http_session_listen(session, visit->exchange,
                            http_exchange_field(visit->exchange, "Last-Event-ID", NULL));
}

static void end_session(struct http_visit *visit)
{
    struct http_session *session = find_session_or_refuse(visit);

    if (!session)
        return;
    http_sessions_close(session);
    http_cors_respond(&visit->endpoint->names, visit->exchange, 204, "", NULL, 0);
}

/* One request */

static void http_visit_free(struct http_visit *visit)
{
    http_forward_free(visit->forward);
    authority_check_deinit(&visit->check);
    free(visit);
}

static void http_visit_serve_here(struct http_visit *visit)
{
    http_visit_set_state(visit, HTTP_VISIT_SERVED);
    if (http_gate_has_method(visit->exchange, "POST"))
        http_visit_post(visit);
    else if (http_gate_has_method(visit->exchange, "GET"))
        http_visit_get(visit);
    else
        end_session(visit);
    http_visit_free(visit);
}

/* Other replicas */

/* The replica that has what a request without a session is about; NULL: none but us. The body stays
 * as it is. */
static struct replica *http_visit_find_owner_in_body(const struct http_visit *visit)
{
    const struct replicas *replicas = visit->endpoint->replicas;
    const struct http_exchange *exchange = visit->exchange;
    AUTO_FREE char *copy = NULL;
    struct replica *owner = NULL;
    struct incoming incoming;

    if (!replicas_are_named(replicas, exchange->body, exchange->body_length))
        return NULL;
    copy = memory_new(exchange->body_length + 1, 1);
    memcpy(copy, exchange->body, exchange->body_length);
    incoming_init(&incoming, copy, exchange->body_length);
    if (incoming.kind == INCOMING_MODERN)
        owner = replicas_find_owner(replicas, &incoming);
    incoming_deinit(&incoming);
    return owner;
}

/* True when a request goes to the session in its head. GET and DELETE do in any revision. */
static bool http_visit_names_session(const struct http_exchange *exchange)
{
    const struct http_route_headers headers = read_route_headers(exchange);

    return headers.sessions > 0 &&
           !(http_gate_has_method(exchange, "POST") && http_route_is_alone(&headers));
}

/* Users of unix sockets have a name on this machine only. */
static struct replica *http_visit_find_owner(const struct http_visit *visit)
{
    const struct replicas *replicas = visit->endpoint->replicas;
    unsigned sessions = 0;
    const char *session = http_exchange_field(visit->exchange, "Mcp-Session-Id", &sessions);

    if (!replicas || visit->is_sealed || visit->exchange->peer->family == AF_UNIX)
        return NULL;
    if (http_visit_names_session(visit->exchange))
        return sessions == 1 ? replicas_find(replicas, session) : NULL;
    return visit->exchange->body_length > 0 ? http_visit_find_owner_in_body(visit) : NULL;
}

/* Whoever is not reached has lost what the request is about, or cannot be asked: this server says
 * that it does not know it. */
static void http_visit_on_forwarded(void *data, enum http_forward_end end)
{
    struct http_visit *visit = data;

    if (end == HTTP_FORWARD_UNREACHED)
        http_visit_serve_here(visit);
    else
        http_visit_free(visit);
}

static void http_visit_pass(struct http_visit *visit, struct replica *owner)
{
    http_visit_set_state(visit, HTTP_VISIT_PASSED);
    visit->forward = http_forward_start(&(struct http_forward_settings){
        .replicas = visit->endpoint->replicas,
        .replica = owner,
        .exchange = visit->exchange,
        .names = &visit->endpoint->names,
        .principal = visit->check.principal,
        .over = http_visit_on_forwarded,
        .data = visit,
    });
}

static void http_visit_on_drained(struct http_answer *answer)
{
    http_forward_drained(CONTAINER_OF(answer, struct http_visit, answer)->forward);
}

static void http_visit_refuse_seal(struct http_visit *visit, const char *problem)
{
    replicas_note_refusal(visit->endpoint->replicas, problem);
    http_gate_refuse(&visit->endpoint->names, visit->exchange,
                     &(struct http_refusal){401, "", HTTP_CODE_BAD_REQUEST,
                                            "this replica does not believe who has sent it"});
    http_visit_free(visit);
}

/* A connection counts as a stranger's until a whole request is in, so that slow senders keep nobody
 * out. False: there is no place for it, and it was told. */
static bool http_visit_enter(struct http_visit *visit)
{
    if (visit->is_sealed)
        return http_exchange_admit_forwarded(visit->exchange, visit->check.principal);
    return http_exchange_admit(visit->exchange, needs_token(visit) ? visit->check.principal : NULL);
}

static void http_visit_serve(struct http_visit *visit)
{
    struct replica *owner;

    if (visit->is_sealed && !replicas_seal_fits(&visit->seal, visit->exchange)) {
        http_visit_refuse_seal(visit, "it is for another request");
        return;
    }
    if (!http_visit_enter(visit)) {
        http_visit_free(visit);
        return;
    }
    owner = http_visit_find_owner(visit);
    if (owner)
        http_visit_pass(visit, owner);
    else
        http_visit_serve_here(visit);
}

/* Identity */

static void refuse_stranger(struct http_visit *visit)
{
    AUTO_FREE char *fields = visit->check.challenge
                                 ? memory_format("WWW-Authenticate: %s\r\n", visit->check.challenge)
                                 : memory_copy_string("");

    http_gate_refuse(&visit->endpoint->names, visit->exchange,
                     &(struct http_refusal){visit->check.status, fields, HTTP_CODE_BAD_REQUEST,
                                            "a valid token is required"});
}

/* It is known who it is. */
static void http_visit_admit(struct http_visit *visit)
{
    if (visit->check.status != 0) {
        refuse_stranger(visit);
        http_visit_free(visit);
    } else if (http_gate_is_refused(&visit->endpoint->names, visit->exchange,
                                    http_gate_check_content(visit->exchange))) {
        http_visit_free(visit);
    } else if (visit->state == HTTP_VISIT_WHOLE) {
        http_visit_serve(visit);
    } else {
        http_visit_set_state(visit, HTTP_VISIT_ADMITTED);
    }
}

static void http_visit_on_checked(struct authority_check *check)
{
    http_visit_admit(CONTAINER_OF(check, struct http_visit, check));
}

static void http_visit_on_gone(struct http_answer *answer)
{
    http_visit_free(CONTAINER_OF(answer, struct http_visit, answer));
}

static struct http_visit *http_visit_new(struct http_endpoint *endpoint,
                                         struct http_exchange *exchange)
{
    struct http_visit *visit = NEW(struct http_visit);
    unsigned count = 0;
    const char *authorization = http_exchange_field(exchange, "Authorization", &count);

    visit->endpoint = endpoint;
    visit->exchange = exchange;
    visit->answer = (struct http_answer){http_visit_on_gone, http_visit_on_drained};
    exchange->data = &visit->answer;
    visit->check = (struct authority_check){
        .authority = endpoint->authority,
        .peer = *exchange->peer,
        .authorization = count > 1 ? "" : authorization,
        .done = http_visit_on_checked,
    };
    return visit;
}

/* Wipes the token from the text of the head: nothing needs it any more. */
static void wipe_token(struct http_exchange *exchange)
{
    for (unsigned i = 0; i < exchange->head.field_count; i++) {
        const struct http_field *field = &exchange->head.fields[i];

        if (strcasecmp(field->name, "Authorization") == 0)
            explicit_bzero((char *)field->value, strlen(field->value));
    }
}

void http_visit_begin(struct http_endpoint *endpoint, struct http_exchange *exchange)
{
    struct http_visit *visit = http_visit_new(endpoint, exchange);
    enum outcome outcome = OUTCOME_READY;

    if (needs_token(visit))
        outcome = authority_check(&visit->check);
    else
        peer_format_principal(exchange->peer, visit->check.principal);
    wipe_token(exchange);
    if (outcome == OUTCOME_READY)
        http_visit_admit(visit);
}

/* What is wrong with the principal of a seal; NULL: nothing. A replica that asks for no token,
 * where this one does, lets in whom this one does not. */
static const char *http_visit_check_sealed(const struct http_visit *visit)
{
    const char *principal = visit->seal.principal;

    if (visit->endpoint->authority &&
        (peer_is_anonymous(principal) || text_starts_with(principal, PEER_USER_PREFIX)))
        return "its client has shown no token, and this server asks for one";
    return NULL;
}

void http_visit_begin_sealed(struct http_endpoint *endpoint, struct http_exchange *exchange,
                             const char *seal)
{
    struct http_visit *visit = http_visit_new(endpoint, exchange);
    const char *problem = replicas_open_seal(endpoint->replicas, seal, &visit->seal);

    visit->is_sealed = true;
    if (!problem)
        problem = http_visit_check_sealed(visit);
    snprintf(visit->check.principal, sizeof visit->check.principal, "%s", visit->seal.principal);
    if (problem)
        http_visit_refuse_seal(visit, problem);
    else
        http_visit_admit(visit);
}

void http_visit_go_on(struct http_exchange *exchange)
{
    struct http_visit *visit = CONTAINER_OF(exchange->data, struct http_visit, answer);

    if (visit->state == HTTP_VISIT_ADMITTED)
        http_visit_serve(visit);
    else
        http_visit_set_state(visit, HTTP_VISIT_WHOLE);
}
