/* The server: everything below, the tool on top of it, and the transports that clients come in by.
 *
 * It ends when its stdio peer is gone, or on the first SIGTERM or SIGINT: clients get no more
 * answers, everything that runs is killed, and the program waits for that for a few seconds. A
 * second signal ends it at once; what still runs dies with it. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/authentication.h"
#include "server/callers.h"
#include "server/command.h"
#include "server/config.h"
#include "server/http_config.h"
#include "server/mcp/mcp.h"
#include "server/options.h"
#include "server/service.h"
#include "server/tools/registry.h"
#include "server/tools/run_python.h"
#include "server/transport/authority.h"
#include "server/transport/http/http_endpoint.h"
#include "server/transport/transport.h"

#include <signal.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define STOP_SECONDS 2.0 /* for clients to take the rest of their output */

enum { EXIT_SIGNAL_BASE = 128 };

static const int ending_signals[] = {SIGINT, SIGTERM};

enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

struct server {
    struct service service;
    struct registry *registry;     /* owned */
    struct run_python *run_python; /* owned */
    struct mcp_server mcp;
    struct authority *authority; /* owned; NULL: there is none */
    struct http_endpoint *http;  /* owned; NULL while it is not open, as below */
    struct transport *transport; /* owned */
    struct ev_signal signals[ENDING_SIGNALS];
    struct ev_timer deadline; /* running: the server is stopping */
};

static void on_finished(void *data)
{
    struct server *server = data;

    ev_break(server->service.loop, EVBREAK_ALL);
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
    struct server *server = watcher->data;

    (void)events;
    if (!server->transport || ev_is_active(&server->deadline)) { /* stopping already */
        transport_free(server->transport);
        _exit(EXIT_SIGNAL_BASE + watcher->signum);
    }
    log_info("stopping on %s", strsignal(watcher->signum));
    ev_timer_start(loop, &server->deadline);
    http_endpoint_stop(server->http);
    transport_stop(server->transport);
    service_stop(&server->service);
}

static void start_watchers(struct server *server)
{
    ev_timer_init(&server->deadline, on_deadline, STOP_SECONDS, 0);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        ev_signal_init(&server->signals[i], on_signal, ending_signals[i]);
        server->signals[i].data = server;
        ev_signal_start(server->service.loop, &server->signals[i]);
    }
}

static void stop_watchers(struct server *server)
{
    ev_timer_stop(server->service.loop, &server->deadline);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        ev_signal_stop(server->service.loop, &server->signals[i]);
}

static int open_tools(struct server *server, const struct callers *callers, struct error *err)
{
    server->registry = registry_new();
    server->run_python = run_python_register(
        server->registry,
        &(struct run_python_settings){
            .loop = server->service.loop,
            .catalog = server->service.catalog,
            .rules = callers->define_environments ? server->service.rules : NULL,
            .executor = server->service.executor,
            .workplace = server->service.workplace,
            .default_environment = server->service.default_environment,
        },
        err);
    server->mcp = (struct mcp_server){
        .name = "pyexecd",
        .title = "Python execution",
        .version = PYEXECD_VERSION,
        .registry = server->registry,
        .loop = server->service.loop,
    };
    mcp_server_init(&server->mcp);
    return server->run_python ? 0 : -1;
}

/* What is wrong with the tokens has been complained about in CONFIG. */
static int open_authority(struct server *server, struct config *config)
{
    struct token_file tokens = {0};
    int status;

    if (authentication_read_tokens(config, &tokens) < 0)
        return -1;
    status = authentication_open(server->service.loop, config, &tokens, &server->authority);
    token_file_deinit(&tokens);
    return status;
}

static int open_transport(struct server *server, const char *const *addresses,
                          const struct config *config, struct error *err)
{
    server->http = http_config_open(&server->mcp, server->authority, config_tree(config));
    server->transport = transport_open(
        &(struct transport_settings){
            .loop = server->service.loop,
            .server = &server->mcp,
            .addresses = addresses,
            .authority = server->authority,
            .http = http_endpoint_service(server->http),
            .auth_none = json_object_get(config_tree(config), "auth"),
            .limits = transport_default_limits,
            .finished = on_finished,
            .data = server,
        },
        err);
    return server->transport ? 0 : -1;
}

/* Ends what runs and gives everything back, top down. */
static void shut_down(struct server *server)
{
    transport_free(STEAL_PTR(server->transport));
    http_endpoint_free(STEAL_PTR(server->http));
    authority_free(STEAL_PTR(server->authority));
    service_stop(&server->service);
    service_drain(&server->service);
    stop_watchers(server);
    mcp_server_deinit(&server->mcp);
    registry_free(server->registry);
    run_python_free(server->run_python);
    service_close(&server->service);
}

static int serve(struct server *server, const struct options *options, struct config *config)
{
    const char *addresses[OPTIONS_ADDRESSES + 1] = {0};
    struct callers callers;
    struct error err = ERROR_INIT;
    int status = EX_OK;

    command_list_addresses(options, config, addresses);
    callers = callers_read(config, addresses);
    if (service_open(&server->service, config, SERVICE_KEEP_DIRECTORIES, &err) < 0 ||
        open_tools(server, &callers, &err) < 0 || open_authority(server, config) < 0 ||
        open_transport(server, addresses, config, &err) < 0) {
        status = config_has_errors(config) ? command_fail_config(config) : command_fail(&err);
    } else {
        start_watchers(server);
        service_begin(&server->service);
        ev_run(server->service.loop, 0);
    }
    shut_down(server);
    return status;
}

int command_serve(const struct options *options)
{
    struct server server = {0};
    int status;
    struct config *config = command_load_config(options, &status);

    if (!config)
        return status;
    status = serve(&server, options, config);
    config_free(config);
    return status;
}
