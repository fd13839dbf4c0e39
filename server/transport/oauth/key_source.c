#include "server/transport/oauth/key_source.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/curl/curl_library.h"
#include "base/curl/transfer.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "server/transport/oauth/key_set.h"
#include "server/transport/oauth/oauth_url.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SOURCE_KEPT_SECONDS                                                                    \
    3600.0 /* then they are asked for again: a key may have been withdrawn */
#define KEY_SOURCE_PAUSE_SECONDS 60.0 /* between two questions for further keys */
#define KEY_SOURCE_RETRY_SECONDS 5.0  /* between two questions for any */

enum {
    FETCH_SECONDS = 10,
    CONNECT_SECONDS = 5,
    DOCUMENT_BYTES = 256 * 1024,
    STATUS_OK = 200,
};

/* The document that is being fetched. */
enum key_source_stage {
    STAGE_NONE,     /* nothing is */
    STAGE_METADATA, /* RFC 8414 */
    STAGE_OPENID,   /* OpenID Connect Discovery, where there is no STAGE_METADATA */
    STAGE_KEYS,
};

struct key_source {
    struct ev_loop *loop; /* borrowed */
    char *issuer;         /* owned */
    char *written_uri;    /* owned; of the key set, or NULL */
    char *found_uri;      /* owned; the same as the issuer says, once it has */
    struct key_set *keys; /* owned, or NULL */
    double asked;         /* when the last question began */
    double asked_again;   /* the same, of a question for further keys */
    double fetched;       /* when the keys came */

    enum key_source_stage stage;
    struct transfers *transfers; /* owned */
    struct transfer transfer;
    struct curl_slist *headers; /* owned */
    struct buffer document;
    struct list waiters; /* of struct key_waiter */
};

static const struct state key_source_stages[] = {
    [STAGE_NONE] = {"none", 1 << STAGE_METADATA | 1 << STAGE_KEYS},
    [STAGE_METADATA] = {"metadata", 1 << STAGE_OPENID | 1 << STAGE_KEYS | 1 << STAGE_NONE},
    [STAGE_OPENID] = {"OpenID metadata", 1 << STAGE_KEYS | 1 << STAGE_NONE},
    [STAGE_KEYS] = {"keys", 1 << STAGE_NONE},
};

static void key_source_start(struct key_source *source, enum key_source_stage stage);

static void key_source_set_stage(struct key_source *source, enum key_source_stage stage)
{
    state_change(key_source_stages, source->stage, stage, "keys of %s", source->issuer);
    source->stage = stage;
}

/* The end of a question */

static void key_source_tell_waiters(struct key_source *source)
{
    while (!list_is_empty(&source->waiters)) {
        struct key_waiter *waiter = CONTAINER_OF(source->waiters.next, struct key_waiter, link);

        list_remove(&waiter->link);
        waiter->ready(waiter);
    }
}

static void key_source_end(struct key_source *source)
{
    key_source_set_stage(source, STAGE_NONE);
    key_source_tell_waiters(source);
}

static void key_source_fail(struct key_source *source, const char *what)
{
    log_warning("the keys of %s cannot be fetched: %s", source->issuer, what);
    free(STEAL_PTR(source->found_uri));
    key_source_end(source);
}

static void take_keys(struct key_source *source)
{
    struct error err = ERROR_INIT;
    struct key_set *keys =
        key_set_parse(buffer_bytes(&source->document), buffer_length(&source->document), &err);

    if (!keys) {
        key_source_fail(source, err.message);
        return;
    }
    key_set_free(source->keys);
    source->keys = keys;
    source->fetched = clock_seconds();
    log_info("keys fetched issuer=%s", source->issuer);
    key_source_end(source);
}

static void take_metadata(struct key_source *source)
{
    AUTO_JSON json_t *document =
        json_loadb(buffer_bytes(&source->document), buffer_length(&source->document),
                   JSON_REJECT_DUPLICATES, NULL);
    const char *issuer = json_object_get_string(document, "issuer");
    const char *uri = json_object_get_string(document, "jwks_uri");

    if (!issuer || strcmp(issuer, source->issuer) != 0) {
        key_source_fail(source, "its metadata names another issuer");
    } else if (!uri || !oauth_url_is_safe(uri)) {
        key_source_fail(source, "its metadata has no usable jwks_uri");
    } else {
        source->found_uri = memory_copy_string(uri);
        key_source_start(source, STAGE_KEYS);
    }
}

/* One document */

static size_t key_source_on_bytes(char *bytes, size_t size, size_t count, void *data)
{
    struct key_source *source = data;
    struct error err = ERROR_INIT;

    return buffer_append(&source->document, bytes, size * count, &err) < 0 ? 0 : size * count;
}

static void take_document(struct key_source *source, long status)
{
    if (status == STATUS_OK && source->stage == STAGE_KEYS)
        take_keys(source);
    else if (status == STATUS_OK)
        take_metadata(source);
    else if (source->stage == STAGE_METADATA)
        key_source_start(source, STAGE_OPENID);
    else
        key_source_fail(source, "the status is not 200");
}

static void key_source_on_over(struct transfer *transfer, CURLcode code)
{
    struct key_source *source = CONTAINER_OF(transfer, struct key_source, transfer);
    long status = 0;

    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    transfer_end(transfer);
    if (code == CURLE_OK)
        take_document(source, status);
    else
        key_source_fail(source,
                        transfer->failure[0] ? transfer->failure : curl_easy_strerror(code));
}

/* Owned by the caller. */
static char *url_of(const struct key_source *source, enum key_source_stage stage)
{
    size_t length = strlen(source->issuer);

    if (stage == STAGE_METADATA)
        return oauth_url_well_known(source->issuer, "oauth-authorization-server");
    if (stage == STAGE_OPENID)
        return memory_format("%s%s.well-known/openid-configuration", source->issuer,
                             source->issuer[length - 1] == '/' ? "" : "/");
    return memory_copy_string(source->written_uri ? source->written_uri : source->found_uri);
}

/* Redirections are not followed: trusted documents come only from the place that the operator
 * named. */
static void key_source_start(struct key_source *source, enum key_source_stage stage)
{
    AUTO_FREE char *url = url_of(source, stage);
    CURL *easy = curl_easy_init();

    key_source_set_stage(source, stage);
    buffer_deinit(&source->document);
    buffer_init(&source->document, DOCUMENT_BYTES);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)FETCH_SECONDS);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, source->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, key_source_on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, source);
    source->transfer = (struct transfer){.easy = easy, .over = key_source_on_over};
    transfer_start(source->transfers, &source->transfer);
}

/* The question */

/* Whether it is time to ask. */
static bool may_ask(const struct key_source *source)
{
    double now = clock_seconds();

    return source->keys ? now - source->asked_again >= KEY_SOURCE_PAUSE_SECONDS
                        : now - source->asked >= KEY_SOURCE_RETRY_SECONDS;
}

static void key_source_ask(struct key_source *source)
{
    source->asked = clock_seconds();
    if (source->keys)
        source->asked_again = source->asked;
    key_source_start(source,
                     source->written_uri || source->found_uri ? STAGE_KEYS : STAGE_METADATA);
}

static bool key_source_is_known(const struct key_source *source, const char *kid)
{
    return key_set_has(source->keys, kid) &&
           clock_seconds() - source->fetched < KEY_SOURCE_KEPT_SECONDS;
}

enum outcome key_source_look_up(struct key_source *source, const char *kid,
                                struct key_waiter *waiter)
{
    list_init(&waiter->link);
    if (key_source_is_known(source, kid))
        return OUTCOME_READY;
    if (source->stage == STAGE_NONE) {
        if (!may_ask(source))
            return OUTCOME_READY;
        key_source_ask(source);
    }
    list_append(&source->waiters, &waiter->link);
    return OUTCOME_PENDING;
}

const struct key_set *key_source_keys(const struct key_source *source)
{
    return source->keys;
}

struct key_source *key_source_new(const struct key_source_settings *settings, struct error *err)
{
    struct key_source *source;

    if (curl_library_load(err) < 0)
        return NULL;
    source = NEW(struct key_source);
    source->loop = settings->loop;
    source->issuer = memory_copy_string(settings->issuer);
    source->written_uri = settings->jwks_uri ? memory_copy_string(settings->jwks_uri) : NULL;
    source->asked = -INFINITY;
    source->asked_again = -INFINITY;
    source->transfers = transfers_new(settings->loop);
    source->headers = curl_slist_append(NULL, "Accept: application/json");
    buffer_init(&source->document, DOCUMENT_BYTES);
    list_init(&source->waiters);
    return source;
}

void key_source_free(struct key_source *source)
{
    if (!source)
        return;
    if (source->stage != STAGE_NONE)
        transfer_end(&source->transfer);
    transfers_free(source->transfers);
    curl_slist_free_all(source->headers);
    buffer_deinit(&source->document);
    key_set_free(source->keys);
    free(source->issuer);
    free(source->written_uri);
    free(source->found_uri);
    free(source);
}
