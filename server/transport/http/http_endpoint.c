#include "server/transport/http/http_endpoint.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/http/http_answer.h"
#include "server/transport/http/http_cors.h"
#include "server/transport/http/http_endpoint_private.h"
#include "server/transport/http/http_gate.h"
#include "server/transport/http/replica_question.h"
#include "server/transport/http/replicas.h"
#include "server/transport/identity/authority.h"

#include <stdlib.h>
#include <string.h>

/* The metadata */

#define PLACE "/.well-known/oauth-protected-resource"

/* The metadata is no secret: every page may read it, whatever path of the server it appends to
 * PLACE. */
#define HTTP_METADATA_FIELDS                                                                       \
    "Access-Control-Allow-Origin: *\r\n"                                                           \
    "Cache-Control: max-age=300\r\n"

static bool has_place(const char *path)
{
    const size_t length = sizeof PLACE - 1;

    return strncmp(path, PLACE, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* The public metadata about the source of tokens: protected resource metadata (RFC 9728). True when
 * EXCHANGE asks for it, and has been answered. Never true if AUTHORITY, which may be NULL, has no
 * metadata: a client would try to get a token that is not needed or does not exist. */
static bool http_metadata_answer(const struct authority *authority, struct http_exchange *exchange)
{
    const char *metadata = authority ? authority_metadata(authority) : NULL;

    if (!metadata || !has_place(exchange->head.path))
        return false;
    if (strcmp(exchange->head.method, "GET") == 0)
        http_respond(exchange, 200, HTTP_METADATA_FIELDS, "application/json", metadata,
                     strlen(metadata));
    else if (strcmp(exchange->head.method, "OPTIONS") == 0)
        http_respond(exchange, 204,
                     HTTP_METADATA_FIELDS "Access-Control-Allow-Methods: GET\r\n"
                                          "Access-Control-Allow-Headers: *\r\n",
                     NULL, NULL, 0);
    else
        http_refuse(exchange, 405, "Allow: GET, OPTIONS\r\n", HTTP_CODE_BAD_REQUEST,
                    "Method Not Allowed");
    return true;
}

/* The service */

/* True when another replica asks what this server makes of it, and has been answered. */
static bool http_endpoint_answer_question(struct http_endpoint *endpoint,
                                          struct http_exchange *exchange)
{
    const char *question =
        endpoint->replicas ? http_exchange_field(exchange, REPLICA_QUESTION_FIELD, NULL) : NULL;
    AUTO_FREE char *answer = NULL;

    if (!question || http_gate_check_sender(&endpoint->names, exchange))
        return false;
    answer = replica_question_answer(endpoint->replicas, question);
    if (answer)
        http_respond(exchange, 200, "", "application/json", answer, strlen(answer));
    return answer != NULL;
}

/* True when another replica sends EXCHANGE. Host is not looked at: it is there to keep browsers
 * out, which have no seal. */
static bool http_endpoint_take_sealed(struct http_endpoint *endpoint,
                                      struct http_exchange *exchange)
{
    const char *seal =
        endpoint->replicas ? http_exchange_field(exchange, REPLICAS_FIELD, NULL) : NULL;

    if (!seal || http_gate_has_method(exchange, "OPTIONS"))
        return false;
    if (!http_gate_is_refused(&endpoint->names, exchange,
                              http_gate_check_sender(&endpoint->names, exchange)))
        http_visit_begin_sealed(endpoint, exchange, seal);
    return true;
}

static void http_endpoint_on_head(struct http_service *service, struct http_exchange *exchange)
{
    struct http_endpoint *endpoint = CONTAINER_OF(service, struct http_endpoint, service);

    if (http_endpoint_answer_question(endpoint, exchange) ||
        http_endpoint_take_sealed(endpoint, exchange))
        return;
    if (http_gate_is_refused(&endpoint->names, exchange,
                             http_gate_check_host(&endpoint->names, exchange)) ||
        http_metadata_answer(endpoint->authority, exchange) ||
        http_gate_is_refused(&endpoint->names, exchange,
                             http_gate_check_sender(&endpoint->names, exchange)))
        return;
    if (http_gate_has_method(exchange, "OPTIONS"))
        http_cors_answer_options(&endpoint->names, exchange, HTTP_GATE_METHODS);
    else
        http_visit_begin(endpoint, exchange);
}

static void http_endpoint_on_request(struct http_service *service, struct http_exchange *exchange)
{
    (void)service;
    http_visit_go_on(exchange);
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
    endpoint->replicas = settings->replicas;
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
        .replica = settings->replicas ? settings->replicas->self : NULL,
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
    replicas_free(endpoint->replicas);
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
