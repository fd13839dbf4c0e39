#include "environments/engine/engine.h"

#include "base/cleanup.h"
#include "base/curl/curl_library.h"
#include "base/curl/transfer.h"
#include "base/memory.h"
#include "environments/engine/engine_error.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECT_SECONDS 10
#define PING_SECONDS    10

enum {
    OLDEST_MINOR = 41, /* Docker 20.10: NanoCpus, PidsLimit, seccomp profiles inline */
    NEWEST_MINOR = 51, /* the version that this client was written for */
    PREFIX_BYTES = 16,
    KEEPALIVE_SECONDS = 30,
};

struct engine {
    struct ev_loop *loop; /* borrowed */
    struct engine_address address;
    struct transfers *transfers; /* owned; NULL before the first question */
    char prefix[PREFIX_BYTES];   /* empty: the version is not known */
    bool is_podman;
    struct transfer ping; /* easy NULL: not under way */
    struct list waiters;  /* of struct engine_waiter: borrowed */
    struct list duties;   /* of struct engine_duty: owned */
    ev_timer refusal;     /* running: there is no libcurl, and waiters are about to be told */
    struct error refused;
};

/* Programs that the server starts must not inherit the engine's socket. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)data;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_tls(CURL *easy, const struct engine_address *address)
{
    if (address->ca_file) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, address->ca_file);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* this one and no other */
    }
    if (address->cert_file)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, address->cert_file);
    if (address->key_file)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, address->key_file);
}

void *engine_easy(const struct engine *engine, const char *path)
{
    AUTO_FREE char *url = memory_format("%s%s%s", engine->address.base_url, engine->prefix, path);
    CURL *easy = curl_easy_init();

    curl_easy_setopt(easy, CURLOPT_URL, url);
    if (engine->address.socket_path)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, engine->address.socket_path);
    set_tls(easy, &engine->address);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    return easy;
}

static const char *header_of(CURL *easy, const char *name)
{
    struct curl_header *header;

    return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value
                                                                                   : NULL;
}

/* The newest version that both sides know. */
static int engine_choose_version(struct engine *engine, struct error *err)
{
    const char *text = header_of(engine->ping.easy, "Api-Version");
    unsigned minor;
    long status = 0;

    curl_easy_getinfo(engine->ping.easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || !text || sscanf(text, "1.%3u", &minor) != 1)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the service at %s is no Docker engine (status %ld)", engine->address.text,
                         status);
    if (minor < OLDEST_MINOR)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the Docker engine at %s is too old: it speaks API 1.%u, 1.%d is needed "
                         "(Docker 20.10)",
                         engine->address.text, minor, OLDEST_MINOR);
    snprintf(engine->prefix, sizeof engine->prefix, "/v1.%u",
             minor < NEWEST_MINOR ? minor : NEWEST_MINOR);
    engine->is_podman = header_of(engine->ping.easy, "Libpod-Api-Version") != NULL;
    return 0;
}

static void engine_tell_waiters(struct engine *engine, const struct error *err)
{
    struct list told;

    /* A waiter that waits again, because the engine was lost meanwhile, waits for the next
     * answer. */
    list_init(&told);
    while (!list_is_empty(&engine->waiters)) {
        struct list *link = engine->waiters.next;

        list_remove(link);
        list_append(&told, link);
    }
    while (!list_is_empty(&told)) {
        struct engine_waiter *waiter = CONTAINER_OF(told.next, struct engine_waiter, link);

        list_remove(&waiter->link);
        waiter->ready(waiter, err);
    }
}

static void engine_on_ping_over(struct transfer *ping, CURLcode code)
{
    struct engine *engine = CONTAINER_OF(ping, struct engine, ping);
    struct error err = ERROR_INIT;
    bool failed = code != CURLE_OK ? engine_error_from_transfer(engine, ping, code, &err) < 0
                                   : engine_choose_version(engine, &err) < 0;

    transfer_end(ping);
    engine_tell_waiters(engine, failed ? &err : NULL);
}

static size_t engine_drop(char *bytes, size_t size, size_t count, void *data)
{
    (void)bytes;
    (void)data;
    return size * count;
}

static void start_ping(struct engine *engine)
{
    engine->ping =
        (struct transfer){.easy = engine_easy(engine, "/_ping"), .over = engine_on_ping_over};
    curl_easy_setopt(engine->ping.easy, CURLOPT_WRITEFUNCTION, engine_drop);
    curl_easy_setopt(engine->ping.easy, CURLOPT_TIMEOUT, (long)PING_SECONDS);
    transfer_start(engine->transfers, &engine->ping);
}

/* Without libcurl no engine is reached. Waiters are told later, as with any other failure. */
static void engine_on_refusal(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct engine *engine = CONTAINER_OF(timer, struct engine, refusal);

    (void)loop;
    (void)events;
    engine_tell_waiters(engine, &engine->refused);
}

static void engine_open(struct engine *engine)
{
    if (!engine->transfers && curl_library_load(&engine->refused) < 0) {
        ev_timer_start(engine->loop, &engine->refusal);
        return;
    }
    if (!engine->transfers)
        engine->transfers = transfers_new(engine->loop);
    if (!engine->ping.easy)
        start_ping(engine);
}

enum outcome engine_meet(struct engine *engine, struct engine_waiter *waiter)
{
    list_init(&waiter->link);
    if (engine->prefix[0])
        return OUTCOME_READY;
    engine_open(engine);
    list_append(&engine->waiters, &waiter->link);
    return OUTCOME_PENDING;
}

void engine_forget_version(struct engine *engine)
{
    engine->prefix[0] = '\0';
}

struct engine *engine_new(struct ev_loop *loop, struct engine_address *address)
{
    struct engine *engine = NEW(struct engine);

    engine->loop = loop;
    engine->address = *address;
    *address = (struct engine_address){0};
    ev_timer_init(&engine->refusal, engine_on_refusal, 0., 0.);
    list_init(&engine->waiters);
    list_init(&engine->duties);
    return engine;
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    while (!list_is_empty(&engine->duties)) {
        struct engine_duty *duty = CONTAINER_OF(engine->duties.next, struct engine_duty, link);

        list_remove(&duty->link);
        duty->give_up(duty);
    }
    if (engine->ping.easy)
        transfer_end(&engine->ping);
    if (engine->transfers)
        transfers_free(engine->transfers);
    ev_timer_stop(engine->loop, &engine->refusal);
    engine_address_deinit(&engine->address);
    free(engine);
}

bool engine_is_idle(const struct engine *engine)
{
    return list_is_empty(&engine->duties);
}

void engine_add_duty(struct engine *engine, struct engine_duty *duty)
{
    list_append(&engine->duties, &duty->link);
}

const char *engine_name(const struct engine *engine)
{
    return engine->address.text;
}

const char *engine_socket(const struct engine *engine)
{
    return engine->address.socket_path;
}

bool engine_is_podman(const struct engine *engine)
{
    return engine->is_podman;
}

struct ev_loop *engine_loop(const struct engine *engine)
{
    return engine->loop;
}

const char *engine_prefix(const struct engine *engine)
{
    return engine->prefix;
}

struct transfers *engine_transfers(const struct engine *engine)
{
    return engine->transfers;
}
