/* `pyexecd call`: answers one tool call of a model for a program that calls models itself. The
 * input is an object of the provider's API; the output, whatever happens, is the tool result that
 * belongs to it. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/environment.h"
#include "environments/interpreter/script_places.h"
#include "environments/workplace/working_directory.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/commands/provider_call.h"
#include "server/configuration/config.h"
#include "server/service.h"
#include "server/tools/caller.h"
#include "server/tools/invocation.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_tools.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"
#include "server/transport/socket/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { CALL_BYTES = 16 * 1024 * 1024 };

struct command_call {
    const struct options *options; /* borrowed */
    struct provider_call call;
    struct service service;
    struct registry *registry; /* owned, as below */
    struct python_host *host;
    struct principals *principals;
    struct tool_caller *caller;
    struct invocation invocation;
    enum outcome outcome; /* of the invocation */
    struct error err;
    struct error_rest rest; /* of its message */
    char *failure;          /* owned: the fault, or NULL */
};

/* The way out */

static int command_call_print(const struct command_call *command, const json_t *content,
                              bool is_error)
{
    AUTO_JSON json_t *result = provider_call_result(&command->call, content, is_error);

    if (json_dumpf(result, stdout, JSON_COMPACT) < 0 || putchar('\n') == EOF ||
        fflush(stdout) == EOF)
        return EX_IOERR;
    return EX_OK;
}

static int command_call_print_failure(const struct command_call *command, const char *text)
{
    AUTO_FREE char *whole = memory_format("error: %s", text);
    AUTO_JSON json_t *content = json_pack("[{s:s, s:o}]", "type", "text", "text",
                                          json_string_repaired(whole, strlen(whole)));

    return command_call_print(command, content, true);
}

static int command_call_conclude(const struct command_call *command)
{
    const struct invocation_result *result = &command->invocation.result;

    if (command->failure)
        return command_call_print_failure(command, command->failure);
    if (result->requests)
        return command_call_print_failure(
            command,
            "this environment runs nothing before a person has agreed, and there is nobody "
            "to ask here; choose another environment");
    return command_call_print(command, result->content, result->is_error);
}

static void command_call_fail(struct command_call *command)
{
    AUTO_FREE char *text = error_text(&command->err);

    free(command->failure);
    command->failure = command->err.code == ERROR_UNKNOWN_TOOL
                           ? memory_format("there is no tool \"%s\"; there is run_python", text)
                           : STEAL_PTR(text);
}

/* The invocation */

static void command_call_on_progress(struct invocation *invocation, double progress, double total,
                                     const char *message)
{
    (void)invocation;
    (void)progress;
    (void)total;
    (void)message;
}

static void command_call_on_done(struct invocation *invocation, const struct error *err)
{
    struct command_call *command = CONTAINER_OF(invocation, struct command_call, invocation);

    command->outcome = command_keep(err, &command->err);
    ev_break(command->service.loop, EVBREAK_ALL);
}

/* Returns the signal that ended the wait, or 0. */
static int command_call_wait(struct command_call *command)
{
    struct interruption interruption;

    if (command->outcome != OUTCOME_PENDING)
        return 0;
    interruption_start(&interruption, command->service.loop);
    ev_run(command->service.loop, 0);
    if (command->outcome == OUTCOME_PENDING) {
        invocation_cancel(&command->invocation);
        command->outcome = OUTCOME_FAILED;
        error_set(&command->err, ERROR_UNAVAILABLE, "the call was ended by signal %d",
                  interruption.signal);
    }
    interruption_stop(&interruption);
    return interruption.signal;
}

static int command_call_invoke(struct command_call *command)
{
    struct invocation *invocation = &command->invocation;
    int signal;

    *invocation = (struct invocation){
        .caller = command->caller,
        .arguments = command->call.arguments,
        .progress = command_call_on_progress,
        .done = command_call_on_done,
    };
    if (tool_prepare(invocation, command->registry, command->call.name, &command->err) < 0)
        command->outcome = OUTCOME_FAILED;
    else
        command->outcome = invocation_start(invocation, &command->err);
    signal = command_call_wait(command);
    if (command->outcome == OUTCOME_FAILED)
        command_call_fail(command);
    return signal;
}

/* Start */

/* Every environment works in DIRECTORY. The call uses a named one, or a new one. */
static int command_call_work_in(struct service *service, const json_t *arguments,
                                const char *directory, struct error *err)
{
    AUTO(script_places_deinit) struct script_places kept = {0};
    const char *named = json_object_get_string(arguments, "environment");
    const char *used = named ? named : service->default_environment;
    const bool is_defined = json_object_get(arguments, "environment_definition");
    const char *real;

    if (workplace_lend(service->workplace, directory, NULL, err) < 0)
        return -1;
    real = workplace_path(service->workplace);
    catalog_work_in(service->catalog, real);
    for (size_t i = 0; i < catalog_count(service->catalog); i++) {
        const struct environment *environment = catalog_at(service->catalog, i);

        if ((is_defined || !used || strcmp(environment->name, used) == 0) &&
            service_check_directory(service, environment, real, &kept, err) < 0)
            return error_prefix(err, "--working-directory");
    }
    service_work_in(service, real, &kept);
    return 0;
}

static int command_call_open(struct command_call *command, struct config *config)
{
    const char *addresses[OPTIONS_ADDRESSES + 1] = {0};
    AUTO_FREE char *principal = peer_own_principal();
    struct service *service = &command->service;
    struct error *err = &command->err;
    const char *directory = command->options->working_directory;

    command_list_addresses(command->options, config, addresses);
    if (service_open(service, config, SERVICE_KEEP_DIRECTORIES, command_find_start(addresses),
                     err) < 0 ||
        (directory && command_call_work_in(service, command->call.arguments, directory, err) < 0))
        return -1;
    command->registry = registry_new();
    command->host = python_host_new(&(struct python_settings){
        .loop = service->loop,
        .catalog = service->catalog,
        .rules = config_callers(config, addresses).define_environments ? service->rules : NULL,
        .executor = service->executor,
        .workplace = service->workplace,
        .default_environment = service->default_environment,
        .open_tools = script_channel_open,
        .tools_data = &service->channels,
        .code_blocks = json_object_get(config_tree(config), "code_blocks"),
        .has_many = json_is_true(json_object_get(config_tree(config), "run_many")),
        .picture_helper =
            provider_call_takes_images(&command->call) ? service->picture_helper : NULL,
    });
    command->principals = principals_new();
    command->caller = tool_caller_new(command->principals, principal, false);
    return python_tools_offer(command->registry, command->host, err);
}

static void command_call_close(struct command_call *command)
{
    service_stop(&command->service);
    service_drain(&command->service);
    tool_caller_unref(command->caller);
    principals_free(command->principals);
    registry_free(command->registry);
    python_host_free(command->host);
    service_close(&command->service);
}

static int command_call_serve(struct command_call *command, struct config *config)
{
    int signal = 0;
    int status;

    if (!config_has_errors(config) && command_call_open(command, config) == 0)
        signal = command_call_invoke(command);
    else if (config_has_errors(config))
        command->failure = config_error_text(config);
    else
        command_call_fail(command);
    status = command_call_conclude(command);
    if (command->invocation.phase != INVOCATION_NEW)
        invocation_deinit(&command->invocation);
    command_call_close(command);
    return signal ? interruption_status(signal) : status;
}

/* Reads the call. -1 with `failure`. */
static int command_call_read(struct command_call *command)
{
    size_t length = 0;
    AUTO_FREE char *text = fd_read_all(STDIN_FILENO, CALL_BYTES, &length, &command->err);
    struct error cause = ERROR_INIT;

    if (!text)
        error_prefix(&command->err, "standard input");
    if (provider_call_read(&command->call, text_or_none(text), length, command->options->provider,
                           &cause) == 0)
        return 0;
    if (text)
        error_copy(&command->err, &cause);
    command_call_fail(command);
    return -1;
}

static int command_call_end(struct command_call *command, int status)
{
    provider_call_deinit(&command->call);
    free(command->failure);
    return status;
}

int command_call(const struct options *options)
{
    struct command_call command = {.options = options, .err.rest = &command.rest};
    struct config *config;
    int status;

    if (isatty(STDIN_FILENO))
        fputs("pyexecd: reading a tool call from the terminal, to the end of the input (Ctrl-D)\n",
              stderr);
    if (command_call_read(&command) < 0)
        return command_call_end(&command, command_call_conclude(&command));
    config = command_open_config(options);
    status = command_call_serve(&command, config);
    config_free(config);
    return command_call_end(&command, status);
}

int command_call_refuse(const struct options *options, const struct error *err)
{
    struct command_call command = {.options = options, .err.rest = &command.rest};

    (void)command_call_read(&command); /* for its provider and its id */
    error_copy(&command.err, err);
    command_call_fail(&command);
    return command_call_end(&command, command_call_conclude(&command));
}
