#include "server/admin.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "server/configuration/config_values.h"
#include "server/transport/http/http_exchange.h"
#include "server/transport/http/http_gate.h"
#include "server/transport/http/http_origin.h"
#include "server/transport/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ADMIN_FIELDS "Cache-Control: no-store\r\n"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum {
    CONNECTIONS = 16,
    METRICS_BYTES = 4 * 1024 * 1024,
    REFUSAL_CODE = -32600,
    OK = 200,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    UNAVAILABLE = 503,
};

struct admin {
    struct admin_settings settings;
    struct http_service service;
    struct transport *transport; /* owned */
    double started;              /* monotonic seconds */
    time_t started_at;
};

static struct admin *admin_of(struct http_service *service)
{
    return CONTAINER_OF(service, struct admin, service);
}

/* /healthz */

static void tell_health(struct admin *admin, struct http_exchange *exchange)
{
    const struct admin_state state = admin->settings.look(admin->settings.data);
    double uptime = clock_seconds() - admin->started;
    AUTO_FREE char *text =
        memory_format("{\"status\":\"%s\",\"version\":\"%s\",\"uptime\":%.1f}\n",
                      state.is_stopping ? "stopping" : "ok", admin->settings.version, uptime);

    http_respond(exchange, state.is_stopping ? UNAVAILABLE : OK, ADMIN_FIELDS, "application/json",
                 text, strlen(text));
}

/* /metrics */

/* Bytes in memory; 0: the kernel does not say. */
static double resident_memory(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;
    bool is_read = file && fscanf(file, "%*u %lu", &pages) == 1;

    if (file)
        fclose(file);
    return is_read ? (double)pages * (double)sysconf(_SC_PAGESIZE) : 0;
}

static int write_gauges(const struct admin *admin, struct buffer *buffer, struct error *err)
{
    const struct admin_state state = admin->settings.look(admin->settings.data);
    AUTO_FREE char *version = memory_format("version=\"%s\"", admin->settings.version);
    const struct {
        const char *name;
        const char *help;
        const char *labels;
        double value;
    } gauges[] = {
        {"pyexecd_build_info", "Which version this is.", version, 1},
        {"pyexecd_runs_running", "Runs that go now.", "", state.runs},
        {"pyexecd_run_queue_length", "Runs that wait for their place.", "", state.queued_runs},
        {"pyexecd_pythons_waiting", "Pythons that wait for code, outside of containers.", "",
         state.pythons},
        {"pyexecd_zygotes", "Pythons that run no code, but are copied.", "", state.zygotes},
        {"pyexecd_zygotes_memory_bytes", "Memory of their own.", "", (double)state.zygote_memory},
        {"pyexecd_connections", "Connections of clients.", "", state.connections},
        {"pyexecd_sessions", "Sessions over HTTP.", "", state.sessions},
        {"pyexecd_python_sessions", "Sessions of Python, which are kept from call to call.", "",
         state.python_sessions},
        {"process_resident_memory_bytes", "Resident memory size in bytes.", "", resident_memory()},
        {"process_start_time_seconds", "Start time since the Unix epoch in seconds.", "",
         (double)admin->started_at},
    };

    for (size_t i = 0; i < ARRAY_SIZE(gauges); i++)
        if (metrics_write_gauge(buffer, gauges[i].name, gauges[i].help, gauges[i].labels,
                                gauges[i].value, err) < 0)
            return -1;
    return 0;
}

static void tell_metrics(struct admin *admin, struct http_exchange *exchange)
{
    struct buffer buffer;
    struct error err = ERROR_INIT;

    buffer_init(&buffer, METRICS_BYTES);
    if (write_gauges(admin, &buffer, &err) < 0 || metrics_write(&buffer, &err) < 0)
        http_refuse(exchange, UNAVAILABLE, ADMIN_FIELDS, REFUSAL_CODE, "the metrics are too many");
    else
        http_respond(exchange, OK, ADMIN_FIELDS, METRICS_TYPE, buffer_bytes(&buffer),
                     buffer_length(&buffer));
    buffer_deinit(&buffer);
}

/* Requests */

static const struct {
    const char *path;
    void (*tell)(struct admin *admin, struct http_exchange *exchange);
} pages[] = {
    {"/healthz", tell_health},
    {"/metrics", tell_metrics},
};

static void admin_answer(struct admin *admin, struct http_exchange *exchange)
{
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        if (strcmp(exchange->head.path, pages[i].path) == 0) {
            pages[i].tell(admin, exchange);
            return;
        }
    }
    http_refuse(exchange, NOT_FOUND, "", REFUSAL_CODE, "there are /healthz and /metrics");
}

static bool is_read(const struct http_exchange *exchange)
{
    return http_gate_has_method(exchange, "GET") || http_gate_has_method(exchange, "HEAD");
}

/* Web pages get no answers, whatever host name they used. */
static void admin_on_head(struct http_service *service, struct http_exchange *exchange)
{
    static const char *const none[] = {NULL};
    static const struct http_names names = {.hosts = none, .origins = none};
    const struct http_refusal *refusal = http_gate_check_host(&names, exchange);
    unsigned origins = 0;

    (void)http_exchange_field(exchange, "Origin", &origins);
    if (refusal)
        http_refuse(exchange, refusal->status, refusal->fields, refusal->code, refusal->message);
    else if (origins > 0)
        http_refuse(exchange, FORBIDDEN, "", REFUSAL_CODE, "web pages may not call");
    else if (!is_read(exchange))
        http_refuse(exchange, NOT_ALLOWED, "Allow: GET, HEAD\r\n", REFUSAL_CODE,
                    "Method Not Allowed");
    else if (http_exchange_admit(exchange, NULL))
        admin_answer(admin_of(service), exchange);
}

/* No request has a body worth waiting for: the head is answered. */
static void admin_on_request(struct http_service *service, struct http_exchange *exchange)
{
    (void)service;
    (void)exchange;
}

static void admin_on_gone(struct http_service *service, struct http_exchange *exchange)
{
    (void)service;
    (void)exchange;
}

static void admin_on_finished(void *data)
{
    (void)data;
}

static struct transport *admin_open_transport(struct admin *admin, const char *address,
                                              struct error *err)
{
    const char *const addresses[] = {address, NULL};
    struct transport_limits limits = transport_default_limits;

    limits.connections = CONNECTIONS;
    limits.per_peer = CONNECTIONS;
    limits.http.body_bytes = 0;
    return transport_open(
        &(struct transport_settings){
            .loop = admin->settings.loop,
            .addresses = addresses,
            .auth_none = true,
            .http = &admin->service,
            .is_secondary = true,
            .limits = limits,
            .finished = admin_on_finished,
        },
        err);
}

struct admin *admin_open(const struct admin_settings *settings, struct error *err)
{
    AUTO_FREE char *address = config_values_admin_address(settings->address, err);
    struct admin *admin;

    if (!address)
        return NULL;
    admin = NEW(struct admin);
    admin->settings = *settings;
    admin->settings.address = NULL;
    admin->service = (struct http_service){
        .head = admin_on_head,
        .request = admin_on_request,
        .gone = admin_on_gone,
    };
    admin->started = clock_seconds();
    admin->started_at = time(NULL);
    admin->transport = admin_open_transport(admin, address, err);
    if (admin->transport)
        return admin;
    free(admin);
    return NULL;
}

void admin_close(struct admin *admin)
{
    if (!admin)
        return;
    transport_free(admin->transport);
    free(admin);
}
