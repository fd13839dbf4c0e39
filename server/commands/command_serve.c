/* The server: the service, the tools on top of it, and the transports.
 *
 * It ends when its stdio peer is gone, or on the first SIGTERM or SIGINT: clients get no more
 * answers, all runs are killed, and the program waits a few seconds for their ends. A second signal
 * ends it at once; runs that are still going die with it.
 *
 * On SIGHUP it reads its configuration again, unless its terminal is gone: then it ends. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/notebook/notebooks.h"
#include "environments/process/host.h"
#include "server/admin.h"
#include "server/authentication.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/commands/terminal.h"
#include "server/configuration/config.h"
#include "server/configuration/http_config.h"
#include "server/mcp/server.h"
#include "server/reload.h"
#include "server/replica_table.h"
#include "server/service.h"
#include "server/tools/caller.h"
#include "server/tools/python/code_writer.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_tools.h"
#include "server/tools/registry.h"
#include "server/transport/http/http_endpoint.h"
#include "server/transport/http/replicas.h"
#include "server/transport/http/tls.h"
#include "server/transport/identity/authority.h"
#include "server/transport/transport.h"
#include "server/watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define COMMAND_SERVE_STOP_SECONDS 2.0 /* for clients to take the rest of their output */

enum {
    EXIT_SIGNAL_BASE = 128,
    TURN_SECONDS = 4, /* of processor time, for one turn of the loop */
};

static const int ending_signals[] = {SIGINT, SIGTERM};

enum { ENDING_SIGNALS = ARRAY_SIZE(ending_signals) };

struct server {
    const struct options *options;                /* borrowed */
    struct config *config;                        /* owned: the newest without errors */
    json_t *started;                              /* owned: the tree of the first configuration */
    const char *addresses[OPTIONS_ADDRESSES + 1]; /* borrowed from `started`, or from the options */
    struct service service;
    struct registry *registry;  /* owned */
    struct python_host *python; /* owned */
    struct mcp_server mcp;
    struct tls *tls;             /* owned; NULL: there is none */
    struct authority *authority; /* owned; NULL: there is none */
    struct replicas *replicas;   /* owned until `http` takes them; NULL: there are none */
    struct http_endpoint *http;  /* owned; NULL while it is not open, as below */
    struct transport *transport; /* owned */
    struct admin *admin;         /* owned; NULL: there is no such address */
    struct ev_signal signals[ENDING_SIGNALS];
    struct ev_signal hangup;
    bool has_terminal;        /* it was started from a terminal */
    struct ev_timer deadline; /* running: the server is stopping */
    struct watchdog watchdog;
    json_t *token_names; /* owned: a set; of the first tokens */
};

static void command_serve_on_finished(void *data)
{
    struct server *server = data;

    ev_break(server->service.loop, EVBREAK_ALL);
}

static void command_serve_on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void command_serve_stop(struct server *server, int signal)
{
    if (!server->transport || ev_is_active(&server->deadline)) { /* stopping already */
        transport_free(server->transport);
        admin_close(server->admin);
        _exit(EXIT_SIGNAL_BASE + signal);
    }
    log_info("stopping on %s", strsignal(signal));
    ev_timer_start(server->service.loop, &server->deadline);
    http_endpoint_stop(server->http);
    transport_stop(server->transport);
    mcp_server_stop(&server->mcp);
    service_stop(&server->service);
}

static void command_serve_on_signal(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
    (void)loop;
    (void)events;
    command_serve_stop(watcher->data, watcher->signum);
}

/* Tools */

/* The settings of the tools, from the newest configuration. */
static struct python_settings tool_settings(struct server *server)
{
    const struct config_callers callers = config_callers(server->config, server->addresses);

    return (struct python_settings){
        .loop = server->service.loop,
        .catalog = server->service.catalog,
        .rules = callers.define_environments ? server->service.rules : NULL,
        .executor = server->service.executor,
        .notebooks = server->service.notebooks,
        .workplace = server->service.workplace,
        .default_environment = server->service.default_environment,
        .code_blocks = json_object_get(config_tree(server->config), "code_blocks"),
        .has_many = json_is_true(json_object_get(config_tree(server->config), "run_many")),
        .results = command_result_form(server->options, server->config),
        .picture_helper = server->service.picture_helper,
        .open_tools = script_channel_open,
        .known_tools = script_channels_know,
        .tools_data = &server->service.channels,
    };
}

static int open_tools(struct server *server, struct error *err)
{
    const struct python_settings settings = tool_settings(server);

    server->registry = registry_new();
    server->python = python_host_new(&settings);
    server->mcp = (struct mcp_server){
        .name = "pyexecd",
        .title = "Python execution",
        .version = PYEXECD_VERSION,
        .description = "Runs Python code, each run apart from all others.",
        .registry = server->registry,
        .loop = server->service.loop,
        .replica = json_object_get_string(json_object_get(server->started, "replicas"), "self"),
        .instruct = python_host_instruct,
        .instruct_data = server->python,
    };
    mcp_server_init(&server->mcp);
    if (python_tools_offer(server->registry, server->python, err) < 0)
        return -1;
    return code_writer_register(server->registry, server->python, err);
}

/* An environment is known better than before. */
static void command_serve_on_learned(void *data)
{
    struct server *server = data;
    struct error err = ERROR_INIT;

    if (python_tools_offer(server->registry, server->python, &err) < 0)
        log_error("the tool was not changed: %s", err.message);
}

/* Another configuration */

/* Takes environments and tools from CONFIG, or changes nothing. */
static int reload_service(struct server *server, struct config *config)
{
    struct config *before = server->config;
    struct python_settings settings;
    struct error err = ERROR_INIT;

    if (service_reload(&server->service, config) < 0)
        return -1;
    server->config = config;
    settings = tool_settings(server);
    python_host_set(server->python, &settings);
    if (python_tools_offer(server->registry, server->python, &err) < 0)
        log_error("the tool was not changed: %s", err.message);
    tool_catalog_look(&server->service.channels.catalog);
    config_free(before);
    return 0;
}

static void take_over_principals(struct server *server, const struct config *config,
                                 const struct token_file *tokens)
{
    authentication_set_tokens(server->authority, tokens);
    authentication_set_limits(principals_limits(server->mcp.principals), config, tokens);
}

/* Applies CONFIG (taken) as a whole or not at all. */
static void take_over(struct server *server, struct config *config)
{
    struct token_file tokens = {0};

    if (authentication_read_tokens(config, &tokens) < 0 || reload_service(server, config) < 0) {
        reload_refuse(config);
        config_free(config);
        metrics_count(METRIC_RELOADS, "refused", NULL);
    } else {
        if (server->authority && reload_keeps(server->started, config, "token_file"))
            take_over_principals(server, config, &tokens);
        tls_config_reload(server->tls, config);
        reload_warn(server->started, config);
        log_info("the configuration was read again");
        metrics_count(METRIC_RELOADS, "success", NULL);
    }
    token_file_deinit(&tokens);
}

/* The command line may have been written by another person: a unit has one. The command of a client
 * has --listen stdio and means it. */
static void command_serve_settle_addresses(const char *const *addresses, struct config *config)
{
    if (addresses[0] && config_use_addresses(config, addresses) && !command_is_private(addresses))
        log_warning("%s: listen: not used, because the command line has --listen %s",
                    config_path(config), addresses[0]);
}

/* Options replace keys of CONFIG, which may be NULL. Returns CONFIG. */
static struct config *command_serve_settle(const struct server *server, struct config *config)
{
    if (!config)
        return NULL;
    if (server->options->token_file)
        config_use_tokens(config, server->options->token_file);
    command_serve_settle_addresses(server->options->addresses, config);
    return config;
}

static void command_serve_on_hangup(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
    struct server *server = watcher->data;
    struct config *config;

    (void)loop;
    (void)events;
    if (server->has_terminal && !terminal_has_us()) {
        command_serve_stop(server, SIGHUP);
        return;
    }
    if (!server->transport || ev_is_active(&server->deadline))
        return;
    transport_begin_reload(server->transport);
    config = command_serve_settle(server, reload_read(server->config));
    if (config)
        take_over(server, config);
    else
        metrics_count(METRIC_RELOADS, "refused", NULL);
    transport_end_reload(server->transport);
}

/* The server */

/* Not after nohup(1). */
static bool terminal_may_end_us(void)
{
    struct sigaction action;

    return terminal_has_us() && sigaction(SIGHUP, NULL, &action) == 0 &&
           action.sa_handler != SIG_IGN;
}

static void start_watchers(struct server *server)
{
    ev_timer_init(&server->deadline, command_serve_on_deadline, COMMAND_SERVE_STOP_SECONDS, 0);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        ev_signal_init(&server->signals[i], command_serve_on_signal, ending_signals[i]);
        server->signals[i].data = server;
        ev_signal_start(server->service.loop, &server->signals[i]);
    }
    server->has_terminal = terminal_may_end_us();
    ev_signal_init(&server->hangup, command_serve_on_hangup, SIGHUP);
    server->hangup.data = server;
    ev_signal_start(server->service.loop, &server->hangup);
}

static void command_serve_stop_watchers(struct server *server)
{
    ev_timer_stop(server->service.loop, &server->deadline);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        ev_signal_stop(server->service.loop, &server->signals[i]);
    ev_signal_stop(server->service.loop, &server->hangup);
    signal(SIGHUP, SIG_IGN); /* a server that ends reads nothing again */
}

static json_t *command_serve_name_tokens(const struct token_file *tokens)
{
    json_t *names = json_object();

    for (size_t i = 0; i < tokens->count; i++)
        json_object_set_new(names, tokens->entries[i].name, json_true());
    return names;
}

/* Problems with the tokens are complaints in the configuration. */
static int open_authority(struct server *server)
{
    struct token_file tokens = {0};
    int status;

    if (authentication_read_tokens(server->config, &tokens) < 0)
        return -1;
    authentication_set_limits(principals_limits(server->mcp.principals), server->config, &tokens);
    status = authentication_open(server->service.loop, server->config, &tokens, &server->authority);
    server->token_names = command_serve_name_tokens(&tokens);
    token_file_deinit(&tokens);
    return status;
}

static struct transport_limits transport_limits_of(const struct config *config)
{
    const json_t *limits = json_object_get(config_tree(config), "limits");
    struct transport_limits result = transport_default_limits;

    result.connections = (unsigned)json_integer_value(json_object_get(limits, "connections"));
    result.per_peer =
        (unsigned)json_integer_value(json_object_get(limits, "connections_per_client"));
    return result;
}

static struct admin_state command_serve_look(void *data)
{
    const struct server *server = data;
    const struct process_ahead ahead = process_host_ahead(server->service.host);

    return (struct admin_state){
        .is_stopping = !server->transport || ev_is_active(&server->deadline),
        .runs = executor_going(server->service.executor),
        .queued_runs = executor_waiting(server->service.executor),
        .connections = server->transport ? transport_connection_count(server->transport) : 0,
        .python_sessions = notebooks_count(server->service.notebooks),
        .sessions = server->http ? http_endpoint_session_count(server->http) : 0,
        .pythons = ahead.waiting,
        .zygotes = ahead.zygotes,
        .zygote_memory = ahead.zygote_memory,
    };
}

static int open_admin(struct server *server, struct error *err)
{
    const char *address = json_object_get_string(config_tree(server->config), "admin");

    if (!address)
        return 0;
    server->admin = admin_open(
        &(struct admin_settings){
            .loop = server->service.loop,
            .address = address,
            .version = PYEXECD_VERSION,
            .look = command_serve_look,
            .data = server,
        },
        err);
    return server->admin ? 0 : -1;
}

/* Tells the transport which clients are scripts. */
static enum insider command_serve_judge(const void *data, uint64_t id)
{
    static const enum insider answers[] = {
        [PROCESS_ORIGIN_UNKNOWN] = INSIDER_UNKNOWN,
        [PROCESS_ORIGIN_OUTSIDE] = INSIDER_NO,
        [PROCESS_ORIGIN_TREE] = INSIDER_YES,
    };

    return answers[process_host_origin(data, id)];
}

static int command_serve_open_transport(struct server *server, struct error *err)
{
    server->http = http_config_open(&server->mcp, server->authority, STEAL_PTR(server->replicas),
                                    config_tree(server->config));
    server->transport = transport_open(
        &(struct transport_settings){
            .loop = server->service.loop,
            .server = &server->mcp,
            .addresses = server->addresses,
            .authority = server->authority,
            .tls = server->tls,
            .http = http_endpoint_service(server->http),
            .auth_none = json_object_get(config_tree(server->config), "auth"),
            .limits = transport_limits_of(server->config),
            .judge = {.judge = command_serve_judge, .data = server->service.host},
            .finished = command_serve_on_finished,
            .data = server,
        },
        err);
    return server->transport ? 0 : -1;
}

/* Stops everything and releases it, top down. */
static void shut_down(struct server *server)
{
    transport_free(STEAL_PTR(server->transport));
    http_endpoint_free(STEAL_PTR(server->http));
    replicas_free(STEAL_PTR(server->replicas));
    authority_free(STEAL_PTR(server->authority));
    tls_free(STEAL_PTR(server->tls));
    mcp_server_stop(&server->mcp);
    service_stop(&server->service);
    ev_timer_stop(server->service.loop, &server->deadline); /* it would end the drain */
    service_drain(&server->service);
    watchdog_stop(&server->watchdog, server->service.loop);
    admin_close(STEAL_PTR(server->admin));
    command_serve_stop_watchers(server);
    mcp_server_deinit(&server->mcp);
    registry_free(server->registry);
    python_host_free(server->python);
    service_close(&server->service);
}

static const char *command_serve_start(const struct server *server)
{
    const char *project = server->options->project;

    return project ? project : command_find_start(server->addresses);
}

/* Only the starter of the program has a right to read its project. */
static int command_serve_check_project(const struct server *server, struct error *err)
{
    const char *project = server->options->project;
    AUTO_FREE char *start = service_find_start(project, NULL);

    if (project && !command_is_private(server->addresses))
        return error_set(err, ERROR_USAGE, "--project: only a server on stdio alone has it");
    if (project && !start)
        return error_set(err, ERROR_USAGE, "--project %s: scripts cannot be given this folder",
                         project);
    return 0;
}

/* Signals are handled from the moment that clients can connect and the service manager knows it. */
static int open_server(struct server *server, struct error *err)
{
    if (service_open(&server->service, server->config, SERVICE_KEEP_DIRECTORIES,
                     command_serve_start(server), err) < 0)
        return -1;
    start_watchers(server);
    if (open_tools(server, err) < 0 || open_authority(server) < 0 ||
        tls_config_open(server->config, &server->tls) < 0 ||
        replica_table_open(server->service.loop, server->config, &server->replicas) < 0 ||
        open_admin(server, err) < 0)
        return -1;
    return command_serve_open_transport(server, err);
}

/* True when a person has typed `pyexecd` and would otherwise see nothing. */
static bool command_serve_is_typed(const struct server *server)
{
    return isatty(STDERR_FILENO) &&
           (!command_is_private(server->addresses) || isatty(STDIN_FILENO));
}

/* Prints the names in the token file. */
static void command_serve_tell_tokens(const struct server *server)
{
    const char *file = json_object_get_string(config_tree(server->config), "token_file");
    const char *name;
    const char *before = "tokens of";
    json_t *value;

    json_object_foreach (server->token_names, name, value) {
        fprintf(stderr, "%s %s", before, name);
        before = ",";
    }
    if (json_object_size(server->token_names) > 0)
        fprintf(stderr, " (%s)\n", file);
}

/* Prints the entry for the settings of a client. */
static void command_serve_tell_entry(const struct server *server, const char *address)
{
    AUTO_JSON json_t *headers =
        server->authority ? json_pack("{s:s}", "Authorization", "Bearer TOKEN") : NULL;
    AUTO_JSON json_t *entry = json_pack("{s:{s:{s:s, s:s, s:O*}}}", "mcpServers", "pyexecd", "type",
                                        "http", "url", address, "headers", headers);
    AUTO_FREE char *text = json_dumps(entry, 0);

    fprintf(stderr, "for a client: %s\n", text);
}

static void command_serve_greet(const struct server *server)
{
    if (command_is_private(server->addresses)) {
        fputs("pyexecd: waiting for the messages of an MCP client on this terminal; Ctrl-D ends "
              "it.\nTo run a script: pyexecd run FILE. More: pyexecd --help\n",
              stderr);
        return;
    }
    for (const char *const *address = server->addresses; *address; address++) {
        fprintf(stderr, "pyexecd: serving %s; Ctrl-C ends it\n", *address);
        if (text_starts_with(*address, "http"))
            command_serve_tell_entry(server, *address);
    }
    command_serve_tell_tokens(server);
}

static int command_serve_loop(struct server *server)
{
    bool is_typed = command_serve_is_typed(server); /* serving stdio takes the descriptors away from
                                                       us */
    struct error err = ERROR_INIT;
    int status = EX_OK;

    if (open_server(server, &err) < 0) {
        status = config_has_errors(server->config) ? command_fail_config(server->config)
                                                   : command_fail(&err);
    } else {
        if (is_typed)
            command_serve_greet(server);
        service_begin(&server->service);
        catalog_survey(server->service.catalog, command_serve_on_learned, server);
        server->service.channels.catalog.learned = command_serve_on_learned;
        server->service.channels.catalog.data = server;
        tool_catalog_look(&server->service.channels.catalog);
        watchdog_start(&server->watchdog, server->service.loop, TURN_SECONDS);
        ev_run(server->service.loop, 0);
    }
    shut_down(server);
    return status;
}

int command_serve(const struct options *options)
{
    struct server server = {.options = options};
    struct error err = ERROR_INIT;
    int status;

    server.config = command_serve_settle(&server, command_load_config(options, &status));
    if (!server.config)
        return status;
    server.started = json_incref((json_t *)config_tree(server.config));
    command_list_addresses(options, server.config, server.addresses);
    status = command_serve_check_project(&server, &err) < 0 ? command_fail(&err)
                                                            : command_serve_loop(&server);
    json_decref(server.started);
    json_decref(server.token_names);
    config_free(server.config);
    return status;
}
