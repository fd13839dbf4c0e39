/* `pyexecd tools`: lists, describes and calls the tools of other servers that scripts may call. The
 * operator types it, so nobody is asked. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/spelling.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/commands/tool_reports.h"
#include "server/configuration/config.h"
#include "server/service.h"
#include "toolbox/toolbox.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

struct tools_command {
    const struct options *options;
    struct service service;
    struct interruption interruption;
    struct tool_call call;
    bool is_over;
    int status;
};

/* `SERVER.TOOL`, split. */
static int command_tools_split(const char *text, char **ret_server, const char **ret_tool,
                               struct error *err)
{
    const char *dot = strchr(text, '.');

    if (!dot || dot == text || !dot[1])
        return error_set(err, ERROR_USAGE, "tools: %s: must be SERVER.TOOL", text);
    *ret_server = memory_format("%.*s", (int)(dot - text), text);
    *ret_tool = dot + 1;
    return 0;
}

/* Listing */

static int command_tools_print_list(const struct tools_command *command,
                                    const struct tool_survey *survey)
{
    const json_t *tool;
    size_t i;

    tool_reports_failures(survey);
    if (command->options->json)
        return command_print_json(survey->tools);
    if (json_array_size(survey->tools) + json_object_size(survey->failures) == 0)
        fputs("pyexecd: no tools: the configuration names no server in `tools` that has one\n",
              stderr);
    json_array_foreach (survey->tools, i, tool) {
        AUTO_FREE char *line = memory_format("%s.%s  %s", json_object_get_string(tool, "server"),
                                             json_object_get_string(tool, "name"),
                                             json_object_get_string(tool, "summary"));

        printable_clean(line);
        puts(line);
    }
    return fflush(stdout) == 0 ? EX_OK : EX_IOERR;
}

static int command_tools_list(struct tools_command *command)
{
    AUTO(tool_survey_deinit) struct tool_survey survey = {0};
    int status;

    status = tool_reports_survey(&command->service, NULL, &survey);
    if (status != EX_OK)
        return status;
    status = command_tools_print_list(command, &survey);
    return status == EX_OK && json_object_size(survey.failures) > 0 ? EX_UNAVAILABLE : status;
}

/* Describing */

static int command_tools_find(const struct tool_survey *survey, const char *server,
                              const char *name, const json_t **ret, struct error *err)
{
    struct spelling spelling = SPELLING_INIT(name);
    const char *failure = json_object_get_string(survey->failures, server);
    const json_t *tool;
    size_t i;

    if (failure)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", server, failure);
    json_array_foreach (survey->tools, i, tool) {
        *ret = tool;
        spelling_try(&spelling, json_object_get_string(tool, "name"));
        if (strcmp(json_object_get_string(tool, "name"), name) == 0)
            return 0;
    }
    return error_set(err, ERROR_USAGE, "there is no tool %s.%s%s%s%s", server, name,
                     spelling.nearest ? ", did you mean " : "",
                     spelling.nearest ? spelling.nearest : "", spelling.nearest ? "?" : "");
}

static int command_tools_describe(struct tools_command *command)
{
    AUTO(tool_survey_deinit) struct tool_survey survey = {0};
    AUTO_FREE char *server = NULL;
    const char *name = "";
    const json_t *tool = NULL;
    struct error err = ERROR_INIT;
    int status;

    if (command_tools_split(command->options->names[1], &server, &name, &err) < 0)
        return command_fail(&err);
    if (!tool_reports_has_server(&command->service, server, &err))
        return command_fail(&err);
    status = tool_reports_survey(&command->service, server, &survey);
    if (status != EX_OK)
        return status;
    return command_tools_find(&survey, server, name, &tool, &err) < 0 ? command_fail(&err)
                                                                      : command_print_json(tool);
}

/* Calling */

static void command_tools_on_progress(struct tool_call *call, const json_t *params)
{
    const char *message = json_object_get_string(params, "message");

    (void)call;
    if (message)
        log_info("%s", message);
}

static void command_tools_on_called(struct tool_call *call, json_t *result, const struct error *err)
{
    struct tools_command *command = CONTAINER_OF(call, struct tools_command, call);

    command->is_over = true;
    if (err)
        command->status = command_fail(err);
    else
        command->status = command_print_json(result);
    if (json_is_true(json_object_get(result, "isError")))
        command->status = 1;
    ev_break(command->service.loop, EVBREAK_ALL);
}

static int command_tools_wait(struct tools_command *command, struct error *err)
{
    struct tool_reports_reach reach;
    int ret;

    tool_reports_reach_init(&reach, command->service.toolbox);
    ret = toolbox_call(command->service.toolbox, &reach.reach, &command->call, err);
    tool_reports_reach_deinit(&reach);
    if (ret < 0)
        return command_fail(err);
    interruption_start(&command->interruption, command->service.loop);
    ev_run(command->service.loop, 0);
    interruption_stop(&command->interruption);
    if (command->is_over)
        return command->status;
    tool_call_cancel(&command->call);
    return interruption_status(command->interruption.signal);
}

static int command_tools_call(struct tools_command *command)
{
    const char *text = command->options->names[2] ? command->options->names[2] : "{}";
    AUTO_FREE char *server = NULL;
    const char *name = "";
    json_error_t fault;
    AUTO_JSON json_t *arguments = json_loads(text, JSON_REJECT_DUPLICATES, &fault);
    struct error err = ERROR_INIT;

    if (command_tools_split(command->options->names[1], &server, &name, &err) < 0)
        return command_fail(&err);
    if (!json_is_object(arguments)) {
        error_set(&err, ERROR_USAGE, "tools: the arguments must be an object of JSON%s%s",
                  arguments ? "" : ": ", arguments ? "" : fault.text);
        return command_fail(&err);
    }
    command->call = (struct tool_call){
        .server = server,
        .tool = name,
        .arguments = arguments,
        .is_approved = true,
        .progress = command_tools_on_progress,
        .done = command_tools_on_called,
    };
    return command_tools_wait(command, &err);
}

/* The command */

static int command_tools_act(struct tools_command *command)
{
    const char *action = command->options->names[0];

    if (!action || strcmp(action, "list") == 0)
        return command_tools_list(command);
    return strcmp(action, "describe") == 0 ? command_tools_describe(command)
                                           : command_tools_call(command);
}

int command_tools(const struct options *options)
{
    struct tools_command command = {.options = options};
    struct error err = ERROR_INIT;
    struct config *config;
    int status;

    config = command_load_config(options, &status);
    if (!config)
        return status;
    if (service_open(&command.service, config, SERVICE_DROP_DIRECTORIES, NULL, &err) == 0)
        status = command_tools_act(&command);
    else
        status = config_has_errors(config) ? command_fail_config(config) : command_fail(&err);
    service_stop(&command.service);
    service_drain(&command.service);
    service_close(&command.service);
    config_free(config);
    return status;
}
