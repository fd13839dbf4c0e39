/* The server that the official conformance suite is run against: nothing but the library and the
 * catalogue.
 *
 *     conformance_server http://localhost:PORT/mcp */
#include "server/mcp/server.h"
#include "server/transport/http/http_endpoint.h"
#include "server/transport/transport.h"
#include "tests/conformance/catalogue.h"

#include <ev.h>
#include <signal.h>
#include <stdio.h>

static struct http_endpoint *http;
static struct transport *transport;

static void on_finished(void *loop)
{
    ev_break(loop, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events;
    http_endpoint_stop(http);
    transport_stop(transport);
}

static void add_everything(struct registry *registry)
{
    catalogue_add_content_tools(registry);
    catalogue_add_telling_tools(registry);
    catalogue_add_asking_tools(registry);
    catalogue_add_task_tools(registry);
    catalogue_add_changing_tools(registry);
    catalogue_add_prompts(registry);
    catalogue_add_resources(registry);
}

int main(int argc, char **argv)
{
    struct ev_loop *loop = EV_DEFAULT;
    struct error err = ERROR_INIT;
    struct registry *registry = registry_new();
    struct mcp_server server = {
        .loop = loop, .name = "conformance", .version = "1", .registry = registry};
    struct transport_settings settings = {.loop = loop,
                                          .server = &server,
                                          .addresses = (const char *const[]){argv[1], NULL},
                                          .limits = transport_default_limits,
                                          .auth_none = true,
                                          .finished = on_finished,
                                          .data = loop};
    struct ev_signal terminated;

    if (argc != 2) {
        fputs("usage: conformance_server http://localhost:PORT/mcp\n", stderr);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    add_everything(registry);
    mcp_server_init(&server);
    http = http_endpoint_new(&(struct http_endpoint_settings){
        .loop = loop, .server = &server, .sessions = 64, .session_idle_seconds = 60});
    settings.http = http_endpoint_service(http);
    /* Before the first client can connect: one that leaves at once may end us at once. */
    ev_signal_init(&terminated, on_signal, SIGTERM);
    ev_signal_start(loop, &terminated);
    transport = transport_open(&settings, &err);
    if (transport)
        ev_run(loop, 0);
    else
        fprintf(stderr, "conformance_server: %s\n", err.message);
    transport_free(transport);
    http_endpoint_free(http);
    mcp_server_deinit(&server);
    registry_free(registry);
    return err.code == ERROR_NONE ? 0 : 1;
}
