/* `pyexecd map`: runs one script once for each line of a file or a stream, several at a time, and
 * prints each result, as it comes, as a line of JSON. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/workplace/working_directory.h"
#include "server/commands/command.h"
#include "server/commands/command_sender.h"
#include "server/commands/input_lines.h"
#include "server/commands/options.h"
#include "server/commands/outlet.h"
#include "server/commands/place.h"
#include "server/commands/script_environment.h"
#include "server/commands/step_display.h"
#include "server/configuration/config.h"
#include "server/service.h"
#include "server/tools/answer/run_result.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/code/import_names.h"
#include "server/tools/code/main_call.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/python/python_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum {
    MAP_EXIT_FAILURE = 1, /* a run has failed */
};

#define MAP_JSON (JSON_COMPACT | JSON_REAL_PRECISION(15))

struct command_map {
    const struct options *options; /* borrowed */
    struct code_cleaning code;     /* borrowed, and left as it is */
    struct service service;
    struct executor_client client;
    struct recurrence recurrence;        /* the Pythons that are ready for the next input */
    json_t *imports;                     /* owned: see command_map_read_imports */
    struct working_directory *directory; /* owned reference */
    struct run_setting setting;
    struct script_sender sender;
    struct input_lines inputs;
    struct outlet output;
    struct list runs; /* of struct map_run */
    size_t going;
    size_t most;   /* runs at a time */
    size_t count;  /* inputs so far */
    size_t over;   /* inputs that have a result */
    size_t failed; /* inputs whose result is no success */
    int status;    /* of the command, if it ends before its inputs */
    bool has_run;  /* a script has: what it needs can be had */
    struct step_display display;
    struct step_line preparation; /* shown while the environment is prepared */
    struct step_line progress;
    bool shows_progress;
};

/* Freed when it is over or cancelled. */
struct map_run {
    struct list link;
    struct command_map *command; /* borrowed */
    struct run *run;             /* borrowed from the executor */
    size_t index;                /* of its input, from 0 */
};

/* The end */

static void map_run_free(struct map_run *run)
{
    list_remove(&run->link);
    run->command->going--;
    free(run);
}

/* Cancels all runs. */
static void command_map_give_up(struct command_map *command, int status)
{
    LIST_FOR_EACH_SAFE (&command->runs, link) {
        struct map_run *run = CONTAINER_OF(link, struct map_run, link);

        run_cancel(run->run);
        map_run_free(run);
    }
    command->status = status;
    ev_break(command->service.loop, EVBREAK_ALL);
}

/* Results */

static void command_map_show_progress(struct command_map *command)
{
    struct preparation_step step = {.fraction = -1};

    if (!command->shows_progress)
        return;
    snprintf(step.text, sizeof step.text, "%zu done, %zu failed", command->over, command->failed);
    step_display_update(&command->display, &command->progress, &step);
}

static void command_map_print(struct command_map *command, const json_t *entry)
{
    AUTO_FREE char *text = json_dumps(entry, MAP_JSON);
    AUTO_FREE char *line = memory_format("%s\n", text);
    struct error err = ERROR_INIT;

    if (outlet_put(&command->output, line, strlen(line), &err) < 0)
        command_map_give_up(command, outlet_fail(&err));
}

/* RESULT belongs to the input INDEX. */
static void command_map_tell(struct command_map *command, size_t index, json_t *result)
{
    AUTO_JSON json_t *entry = json_pack("{s:I}", "index", (json_int_t)index);

    json_object_update(entry, result);
    command->over++;
    if (!json_is_true(json_object_get(result, "success")))
        command->failed++;
    command_map_print(command, entry);
    command_map_show_progress(command);
}

/* Nothing has run for the input INDEX. */
static void command_map_tell_fault(struct command_map *command, size_t index, const char *fault)
{
    AUTO_JSON json_t *result = json_pack("{s:b, s:s}", "success", 0, "error", fault);

    command_map_tell(command, index, result);
}

/* Runs */

static void command_map_go_on(struct command_map *command);

static void command_map_on_step(void *data, const struct preparation_step *step)
{
    struct map_run *run = data;

    step_display_follow(&run->command->display, &run->command->preparation, step);
}

/* If a package or a sandbox cannot be had for the first run, the others cannot have it either. */
static void command_map_on_done(void *data, const struct run_report *report)
{
    struct map_run *run = data;
    struct command_map *command = run->command;
    const size_t index = run->index;
    struct run_facts facts;
    json_t *result;

    map_run_free(run);
    if (report->end == RUN_FAILED && !command->has_run) {
        command_map_give_up(command, command_fail(&report->error));
        return;
    }
    command->has_run = true;
    run_facts_init(&facts, report, &command->setting);
    result = run_result_structured(&facts);
    run_facts_deinit(&facts);
    command_map_tell(command, index, result);
    json_decref(result);
    command_map_go_on(command);
}

static struct run *command_map_submit(struct command_map *command, struct map_run *run,
                                      const char *code, size_t length, struct error *err)
{
    struct script_tools *tools =
        command_sender_open_tools(&command->service, command->setting.environment);
    struct run *started =
        executor_submit(command->service.executor,
                        &(struct run_request){
                            .environment = command->setting.environment,
                            .directory = command->directory,
                            .isolation = environment_isolation(command->setting.environment),
                            .recurrence = &command->recurrence,
                            .imports = command->imports,
                            .client = &command->client,
                            .code = code,
                            .code_length = length,
                            .timeout = command->setting.timeout,
                            .tools = tools,
                            .sender = &command->sender,
                            .data = run,
                            .progress = command_map_on_step,
                            .done = command_map_on_done,
                        },
                        err);

    if (!started)
        script_tools_free(tools);
    return started;
}

static void command_map_run(struct command_map *command, size_t index, const char *input,
                            size_t input_length)
{
    struct map_run *run = NEW(struct map_run);
    struct error err = ERROR_INIT;
    size_t length;
    AUTO_FREE char *code =
        main_call_append(command->code.text, command->code.length, input, input_length, &length);

    run->command = command;
    run->index = index;
    list_append(&command->runs, &run->link);
    command->going++;
    run->run = command_map_submit(command, run, code, length, &err);
    if (run->run)
        return;
    map_run_free(run);
    command_map_tell_fault(command, index, err.message);
}

/* Inputs */

static bool map_input_is_blank(const struct input_lines *inputs, const char *text, size_t length)
{
    if (inputs->is_too_long)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

/* The fault of a line that is too long or not JSON, owned by the caller, or NULL. Python takes
 * integers of any length. */
static char *map_input_find_fault(const struct input_lines *inputs, const char *text, size_t length)
{
    const size_t flags = JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    json_error_t fault;
    AUTO_JSON json_t *value = NULL;

    if (inputs->is_too_long)
        return memory_format("%s:%zu: the line is longer than %d bytes", inputs->name,
                             inputs->number, INPUT_LINE_BYTES);
    value = json_loadb(text, length, flags, &fault);
    if (value)
        return NULL;
    return memory_format("%s:%zu:%d: %s", inputs->name, inputs->number, fault.column, fault.text);
}

static void command_map_take(struct command_map *command, const char *text, size_t length)
{
    const size_t index = command->count++;
    AUTO_FREE char *fault = map_input_find_fault(&command->inputs, text, length);

    if (fault)
        command_map_tell_fault(command, index, fault);
    else
        command_map_run(command, index, text, length);
}

static bool command_map_is_over(const struct command_map *command)
{
    return command->status != EX_OK ||
           (command->going == 0 && input_lines_are_over(&command->inputs) &&
            outlet_is_empty(&command->output));
}

/* Begins as many runs as there is place for, while their results are read. A broken input costs
 * only itself, as a stream cannot be looked at ahead. */
static void command_map_go_on(struct command_map *command)
{
    const char *text;
    size_t length;

    while (command->status == EX_OK && command->going < command->most &&
           !outlet_is_full(&command->output) &&
           input_lines_next(&command->inputs, &text, &length)) {
        if (!map_input_is_blank(&command->inputs, text, length))
            command_map_take(command, text, length);
    }
    if (command_map_is_over(command))
        ev_break(command->service.loop, EVBREAK_ALL);
}

static void command_map_on_line(struct input_lines *inputs)
{
    command_map_go_on(CONTAINER_OF(inputs, struct command_map, inputs));
}

static void command_map_on_taken(void *data, const struct error *err)
{
    struct command_map *command = data;

    if (err)
        command_map_give_up(command, outlet_fail(err));
    else
        command_map_go_on(command);
}

/* The command */

/* As many as a server of this configuration runs at a time, or as were asked for. All of them may
 * wait for each other: where scripts cannot be laid over each other, they run in turn. */
static void command_map_choose_number(struct command_map *command, const struct config *config)
{
    const json_t *limits = json_object_get(config_tree(config), "limits");
    const json_t *places = json_object_get(limits, "concurrent_runs");
    const unsigned most = command->options->parallel ? command->options->parallel
                                                     : (unsigned)json_number_value(places);

    command->most = most;
    executor_set_limits(command->service.executor, &(struct executor_settings){
                                                       .concurrent_runs = most,
                                                       .queued_runs = most,
                                                       .queued_runs_per_client = most,
                                                       .queued_runs_per_owner = most,
                                                   });
}

static int command_map_prepare(struct command_map *command, const struct config *config,
                               struct error *err)
{
    if (script_environment_set(command->options, &command->code, &command->service,
                               &command->setting, err) < 0)
        return -1;
    workplace_extend_script(command->service.workplace);
    command->directory =
        place_open(&(struct script_place){.wanted = command->options->working_directory,
                                          .script = command->options->file},
                   &command->service, command->setting.environment, err);
    if (!command->directory)
        return -1;
    command_map_choose_number(command, config);
    command->inputs.loop = command->service.loop;
    command->inputs.came = command_map_on_line;
    return input_lines_open(&command->inputs, command->options->inputs, err);
}

/* Nothing is drawn over the words of somebody who types. */
static void command_map_show_beginning(struct command_map *command)
{
    command->shows_progress = command->display.terminal.is_movable && !isatty(command->inputs.fd);
    if (command->shows_progress)
        step_display_add(&command->display, &command->progress);
    else if (isatty(command->inputs.fd))
        fprintf(stderr, "pyexecd: reading inputs from the terminal: a line of JSON for each run; "
                        "Ctrl-D ends them\n");
    command_map_show_progress(command);
}

static void command_map_wait_for_end(struct command_map *command)
{
    struct ev_loop *loop = command->service.loop;
    struct interruption interruption;

    interruption_start(&interruption, loop);
    step_display_init(&command->display, loop);
    command->output = (struct outlet){.loop = loop,
                                      .display = &command->display,
                                      .fd = STDOUT_FILENO,
                                      .data = command,
                                      .taken = command_map_on_taken};
    outlet_open(&command->output);
    step_line_init(&command->preparation, command->setting.environment->name);
    step_line_init(&command->progress, basename(command->options->file));
    command_map_show_beginning(command);
    command_map_go_on(command);
    if (!command_map_is_over(command))
        ev_run(loop, 0);
    if (interruption.signal)
        command_map_give_up(command, interruption_status(interruption.signal));
    outlet_close(&command->output);
    step_display_deinit(&command->display);
    interruption_stop(&interruption);
}

static int command_map_conclude(const struct command_map *command)
{
    if (command->status != EX_OK)
        return command->status;
    if (command->inputs.error.code != ERROR_NONE) {
        log_error("%s", command->inputs.error.message);
        return EX_DATAERR;
    }
    return command->failed > 0 ? MAP_EXIT_FAILURE : EX_OK;
}

static void command_map_close(struct command_map *command)
{
    input_lines_close(&command->inputs);
    recurrence_end(&command->recurrence);
    service_stop(&command->service);
    service_drain(&command->service);
    working_directory_unref(command->directory);
    service_close(&command->service);
    json_decref(command->imports);
}

static int command_map_script(struct command_map *command, struct config *config)
{
    AUTO_FREE char *start = place_find_start(command->options->file);
    struct error err = ERROR_INIT;
    int status;

    if (service_open(&command->service, config, SERVICE_KEEP_DIRECTORIES, start, &err) == 0 &&
        command_map_prepare(command, config, &err) == 0) {
        command_map_wait_for_end(command);
        status = command_map_conclude(command);
    } else {
        status = config_has_errors(config) ? command_fail_config(config) : command_fail(&err);
    }
    command_map_close(command);
    return status;
}

/* The modules that every run imports: the call of `main` needs some, too. */
static json_t *command_map_read_imports(const char *code, size_t length)
{
    static const char input[] = "null";
    size_t whole_length;
    AUTO_FREE char *whole = main_call_append(code, length, input, strlen(input), &whole_length);

    return import_names_read(whole, whole_length);
}

static void command_map_init(struct command_map *command, const char *code, size_t length)
{
    command->code = (struct code_cleaning){.text = code, .length = length};
    command->imports = command_map_read_imports(code, length);
    command->inputs.fd = -1;
    list_init(&command->runs);
    executor_client_init(&command->client);
    command_sender_init(&command->sender);
    recurrence_init(&command->recurrence);
}

int command_map(const struct options *options)
{
    struct command_map command = {.options = options};
    struct error err = ERROR_INIT;
    size_t length;
    AUTO_FREE char *code = fd_read_file(options->file, PYTHON_CODE_BYTES, &length, &err);
    struct config *config;
    int status;

    if (!code) {
        log_error("%s", err.message);
        return EX_NOINPUT;
    }
    if (!main_call_is_possible(code, length)) {
        log_error("%s must define main(input), which is called with each input", options->file);
        return EX_DATAERR;
    }
    config = command_load_config(options, &status);
    if (!config)
        return status;
    command_map_init(&command, code, length);
    status = command_map_script(&command, config);
    config_free(config);
    return status;
}
