#include "server/transport/http/replicas.h"

#include "base/cleanup.h"
#include "base/curl/curl_library.h"
#include "base/curl/transfer.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/jsonrpc/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define REPLICAS_KEY_PURPOSE      "pyexecd forwarded requests"
#define REPLICAS_QUESTION_PURPOSE "pyexecd questions of replicas"
#define REPLICAS_DEFAULT_PATH     "/mcp"

enum {
    REPLICAS_SKEW_SECONDS = 30, /* between two clocks, with the time on the way */
    REPLICAS_CONNECT_SECONDS = 5,
    REPLICAS_KEEPALIVE_SECONDS = 5, /* between two looks whether the other machine is there */
    REPLICAS_IDLE_SECONDS = 30,     /* a kept connection is used: less than its server keeps it */
};

/* The table */

int64_t replicas_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void replicas_derive_key(const char *purpose,
                                const unsigned char secret[static DIGEST_BYTES],
                                unsigned char ret[static DIGEST_KEY_BYTES])
{
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, purpose);
    digest_add(&digest, secret, DIGEST_BYTES);
    digest_finish_bytes(&digest, ret);
}

struct replicas *replicas_new(struct ev_loop *loop, const char *self, const char *version,
                              const unsigned char secret[static DIGEST_BYTES], struct error *err)
{
    struct replicas *replicas;

    if (curl_library_load(err) < 0)
        return NULL;
    replicas = NEW(struct replicas);
    snprintf(replicas->self, sizeof replicas->self, "%s", self);
    replicas->version = version;
    replicas_derive_key(REPLICAS_KEY_PURPOSE, secret, replicas->key);
    replicas_derive_key(REPLICAS_QUESTION_PURPOSE, secret, replicas->question_key);
    list_init(&replicas->others);
    replicas->transfers = transfers_new(loop);
    replicas->epoch = replicas_now();
    return replicas;
}

static struct replica *replica_of(struct list *link)
{
    return CONTAINER_OF(link, struct replica, link);
}

void replicas_free(struct replicas *replicas)
{
    if (!replicas)
        return;
    LIST_FOR_EACH_SAFE (&replicas->others, link) {
        list_remove(link);
        free(replica_of(link)->url);
        free(replica_of(link));
    }
    transfers_free(replicas->transfers);
    explicit_bzero(replicas->key, sizeof replicas->key);
    explicit_bzero(replicas->question_key, sizeof replicas->question_key);
    free(replicas);
}

void replicas_add(struct replicas *replicas, const char *name, const char *url)
{
    struct replica *replica = NEW(struct replica);
    const char *authority = strstr(url, "://");
    const bool has_path = authority && strchr(authority + 3, '/');

    snprintf(replica->name, sizeof replica->name, "%s", name);
    replica->url = memory_format("%s%s", url, has_path ? "" : REPLICAS_DEFAULT_PATH);
    list_append(&replicas->others, &replica->link);
}

static struct replica *replicas_find_name(const struct replicas *replicas, const char *name,
                                          size_t length)
{
    LIST_FOR_EACH (&replicas->others, link) {
        if (strlen(replica_of(link)->name) == length &&
            strncmp(replica_of(link)->name, name, length) == 0)
            return replica_of(link);
    }
    return NULL;
}

struct replica *replicas_find(const struct replicas *replicas, const char *handle)
{
    return handle ? replicas_find_name(replicas, handle, handle_measure_replica(handle)) : NULL;
}

bool replicas_are_named(const struct replicas *replicas, const char *text, size_t length)
{
    LIST_FOR_EACH (&replicas->others, link) {
        AUTO_FREE char *beginning = memory_format("%s-", replica_of(link)->name);

        if (memmem(text, length, beginning, strlen(beginning)))
            return true;
    }
    return false;
}

static bool replicas_has(void *data, const char *handle)
{
    return replicas_find(data, handle) != NULL;
}

struct replica *replicas_find_owner(const struct replicas *replicas,
                                    const struct incoming *incoming)
{
    return replicas_find(replicas,
                         owner_find_handle(incoming, replicas_has, (struct replicas *)replicas));
}

CURL *replicas_connect(const struct replica *replica)
{
    CURL *easy = curl_easy_init();

    curl_easy_setopt(easy, CURLOPT_URL, replica->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* none, whatever the environment says */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)REPLICAS_CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)REPLICAS_IDLE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)REPLICAS_KEEPALIVE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)REPLICAS_KEEPALIVE_SECONDS);
    return easy;
}

/* Seals */

bool replicas_forward_field(const char *name)
{
    static const char *const names[] = {"Accept",      "Content-Type", "Last-Event-ID",
                                        "traceparent", "tracestate",   "baggage"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return strncasecmp(name, "Mcp-", strlen("Mcp-")) == 0;
}

static void replicas_digest(const struct http_exchange *exchange,
                            char ret[static DIGEST_TEXT_BYTES])
{
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, exchange->head.method);
    for (unsigned i = 0; i < exchange->head.field_count; i++) {
        const struct http_field *field = &exchange->head.fields[i];

        if (!replicas_forward_field(field->name))
            continue;
        digest_add_string(&digest, field->name);
        digest_add_string(&digest, field->value);
    }
    digest_add_string(&digest, NULL);
    if (strcmp(exchange->head.method, "POST") == 0) /* no other body means anything, or is sent */
        digest_add(&digest, exchange->body_length ? exchange->body : "", exchange->body_length);
    digest_finish(&digest, ret);
}

/* A clock that was far ahead when we began was set since: the others count from our epoch, which
 * may not lie ahead. They have taken none that was further ahead than both clocks may differ. */
static int64_t replicas_epoch(struct replicas *replicas)
{
    const int64_t now = replicas_now();

    if (replicas->epoch > now + INT64_C(2000) * REPLICAS_SKEW_SECONDS)
        replicas->epoch = now;
    return replicas->epoch;
}

char *replicas_seal(struct replicas *replicas, const struct replica *replica,
                    const struct http_exchange *exchange, const char *principal)
{
    struct replica_seal seal = {
        .made = replicas_now() / 1000,
        .epoch = replicas_epoch(replicas),
        .number = ++replicas->last_number,
    };

    snprintf(seal.from, sizeof seal.from, "%s", replicas->self);
    snprintf(seal.to, sizeof seal.to, "%s", replica->name);
    snprintf(seal.principal, sizeof seal.principal, "%s", principal);
    replicas_digest(exchange, seal.digest);
    return replica_seal_close(replicas->key, &seal);
}

/* False for a SEAL from before this process, too: it does not know what an earlier one has taken.
 * An epoch later than its seal would make us refuse all seals after its sender's next start. */
static bool replicas_is_recent(struct replicas *replicas, const struct replica_seal *seal)
{
    return seal->made >= replicas_epoch(replicas) / 1000 && seal->epoch / 1000 <= seal->made &&
           llabs(replicas_now() / 1000 - seal->made) <= REPLICAS_SKEW_SECONDS;
}

const char *replicas_judge(struct replicas *replicas, const struct replica_seal *seal,
                           struct replica **ret_from)
{
    *ret_from = replicas_find_name(replicas, seal->from, strlen(seal->from));
    if (strcmp(seal->to, replicas->self) != 0)
        return "it was made for another replica: look at the addresses in replicas.all";
    if (!*ret_from || !*seal->principal)
        return "it comes from a replica that replicas.all does not name";
    if (!replicas_is_recent(replicas, seal))
        return "it is too old, or the clocks of the two machines differ";
    return NULL;
}

const char *replicas_open_seal(struct replicas *replicas, const char *text,
                               struct replica_seal *ret)
{
    struct replica_seal seal;
    struct replica *from;
    const char *problem;

    if (!replica_seal_open(replicas->key, text, &seal))
        return "it was made with another key";
    problem = replicas_judge(replicas, &seal, &from);
    if (problem)
        return problem;
    if (!replay_window_take(&from->window, seal.epoch, seal.number))
        return "it has been used before";
    *ret = seal;
    return NULL;
}

void replicas_note_refusal(struct replicas *replicas, const char *problem)
{
    if (!replicas->last_problem || strcmp(replicas->last_problem, problem) != 0)
        log_warning("a request with the seal of a replica was refused: %s", problem);
    replicas->last_problem = problem;
}

bool replicas_seal_fits(const struct replica_seal *seal, const struct http_exchange *exchange)
{
    char digest[DIGEST_TEXT_BYTES];

    replicas_digest(exchange, digest);
    return strcmp(seal->digest, digest) == 0;
}
