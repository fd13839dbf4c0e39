/* `pyexecd run`: runs one script from the command line as a call would. The output is passed on
 * immediately, and the exit code at the end. */
#include "base/cleanup.h"
#include "base/coding_line.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/workplace/working_directory.h"
#include "server/commands/command.h"
#include "server/commands/command_sender.h"
#include "server/commands/options.h"
#include "server/commands/outlet.h"
#include "server/commands/place.h"
#include "server/commands/script_environment.h"
#include "server/commands/step_display.h"
#include "server/configuration/config.h"
#include "server/service.h"
#include "server/tools/answer/run_result.h"
#include "server/tools/hints/hints.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/python/python_request.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum {
    EXIT_TIMED_OUT = 124,   /* as timeout(1) */
    EXIT_SIGNAL_BASE = 128, /* as the shells */
};

/* More code than this is a file for its Python: arguments and variables have a limit together. */
enum { COMMAND_RUN_TEXT_BYTES = 64 * 1024 };

struct command_run {
    const struct options *options; /* borrowed */
    struct code_cleaning code;     /* borrowed, and left as it is */
    struct service service;
    struct executor_client client;
    struct working_directory *directory; /* owned reference */
    struct run_setting setting;
    struct script_sender sender;
    struct run *run; /* borrowed; NULL when it is over */
    struct outlet outlets[PROCESS_STREAMS];
    bool is_joined; /* one outlet for both streams: they have one reader */
    int status;     /* of the program */
    struct step_display display;
    struct step_line line; /* shown while the environment is prepared */
};

static bool command_run_is_over(const struct command_run *command)
{
    return !command->run && outlet_is_empty(&command->outlets[PROCESS_STDOUT]) &&
           outlet_is_empty(&command->outlets[PROCESS_STDERR]);
}

/* Cancels the run. */
static void command_run_give_up(struct command_run *command, int status)
{
    if (command_run_is_over(command))
        return;
    if (command->run)
        run_cancel(STEAL_PTR(command->run));
    command->status = status;
    ev_break(command->service.loop, EVBREAK_ALL);
}

static void command_run_on_step(void *data, const struct preparation_step *step)
{
    struct command_run *command = data;

    step_display_follow(&command->display, &command->line, step);
}

static struct outlet *command_run_outlet(struct command_run *command, enum process_stream stream)
{
    return &command->outlets[command->is_joined ? PROCESS_STDOUT : stream];
}

/* A script that is far ahead of its reader waits. */
static void command_run_on_output(void *data, enum process_stream stream, const char *bytes,
                                  size_t length)
{
    struct command_run *command = data;
    struct outlet *outlet = command_run_outlet(command, stream);
    struct error err = ERROR_INIT;

    if ((outlet_is_full(outlet) && outlet_wait(outlet, &err) < 0) ||
        outlet_put(outlet, bytes, length, &err) < 0)
        command_run_give_up(command, outlet_fail(&err));
}

static void command_run_end_if_over(struct command_run *command)
{
    if (command_run_is_over(command))
        ev_break(command->service.loop, EVBREAK_ALL);
}

static void command_run_on_taken(void *data, const struct error *err)
{
    struct command_run *command = data;

    if (err)
        command_run_give_up(command, outlet_fail(err));
    else
        command_run_end_if_over(command);
}

/* The script's own words on stderr come before ours about it. */
static void command_run_finish_errors(struct command_run *command)
{
    struct error ignored = ERROR_INIT;

    (void)outlet_wait(command_run_outlet(command, PROCESS_STDERR), &ignored);
}

static int command_run_exit_status(const struct run_facts *facts)
{
    if (facts->report->end == RUN_TIMED_OUT)
        return EXIT_TIMED_OUT;
    return facts->returncode < 0 ? EXIT_SIGNAL_BASE - facts->returncode : facts->returncode;
}

/* Hints about the failure of the script. */
static void command_run_help(struct command_run *command, const struct run_facts *facts)
{
    static const struct environment *const none[] = {NULL};
    AUTO_JSON json_t *arguments = json_pack("{s:s*}", "environment", command->options->environment);
    const struct hint_facts told = {
        .run = facts,
        .output = json_string_value(facts->streams[PROCESS_STDOUT]),
        .errors = json_string_value(facts->streams[PROCESS_STDERR]),
        .arguments = arguments,
        .code = &command->code,
        .directory = working_directory_path(command->directory),
        .environment = command->setting.environment,
        .offered = none,
        .rules = command->service.rules,
        .is_at_terminal = true,
    };
    AUTO_JSON json_t *hints = hints_find(&told);
    const json_t *line;
    size_t i;

    if (json_array_size(hints) > 0)
        command_run_finish_errors(command);
    json_array_foreach (hints, i, line)
        log_warning("%s", json_string_value(line));
}

/* Reports the errors that the script itself could not print. */
static int command_run_conclude(struct command_run *command, const struct run_facts *facts)
{
    if (facts->report->end == RUN_FAILED || facts->error)
        command_run_finish_errors(command);
    if (facts->report->end == RUN_FAILED)
        return command_fail(&facts->report->error);
    if (facts->error)
        log_error("the script %s", facts->error);
    return command_run_exit_status(facts);
}

static int command_run_print(const struct run_facts *facts)
{
    AUTO_JSON json_t *structured = run_result_structured(facts);

    return command_print_json(structured);
}

static void command_run_on_done(void *data, const struct run_report *report)
{
    struct command_run *command = data;
    struct run_facts facts;

    command->run = NULL;
    run_facts_init(&facts, report, &command->setting);
    command->status = command_run_conclude(command, &facts);
    if (!command->options->json)
        command_run_help(command, &facts);
    else if (command_run_print(&facts) != EX_OK)
        command->status = EX_IOERR;
    run_facts_deinit(&facts);
    command_run_end_if_over(command);
}

static int command_run_submit(struct command_run *command, struct error *err)
{
    struct script_tools *tools;

    if (script_environment_set(command->options, &command->code, &command->service,
                               &command->setting, err) < 0)
        return -1;
    command->directory =
        place_open(&(struct script_place){.wanted = command->options->working_directory,
                                          .script = command->options->file},
                   &command->service, command->setting.environment, err);
    if (!command->directory)
        return -1;
    executor_client_init(&command->client);
    command_sender_init(&command->sender);
    tools = command_sender_open_tools(&command->service, command->setting.environment);
    command->run = executor_submit(
        command->service.executor,
        &(struct run_request){
            .environment = command->setting.environment,
            .directory = command->directory,
            .isolation = environment_isolation(command->setting.environment),
            .client = &command->client,
            .code = command->code.text,
            .code_length = command->code.length,
            .is_text = command->options->code && command->code.length <= COMMAND_RUN_TEXT_BYTES,
            .arguments = (const char *const *)command->options->arguments,
            .timeout = command->setting.timeout,
            .tools = tools,
            .sender = &command->sender,
            .data = command,
            .progress = command_run_on_step,
            .output = command->options->json ? NULL : command_run_on_output,
            .done = command_run_on_done,
        },
        err);
    if (!command->run)
        script_tools_free(tools);
    return command->run ? 0 : -1;
}

/* True where a reader gets both in one: their order is to be kept. */
static bool command_run_has_one_reader(void)
{
    struct stat output;
    struct stat errors;

    return fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
           !S_ISREG(output.st_mode) && output.st_dev == errors.st_dev &&
           output.st_ino == errors.st_ino;
}

static void command_run_open_outlets(struct command_run *command)
{
    static const int descriptors[PROCESS_STREAMS] = {
        [PROCESS_STDOUT] = STDOUT_FILENO,
        [PROCESS_STDERR] = STDERR_FILENO,
    };

    command->is_joined = command_run_has_one_reader();
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        command->outlets[i] = (struct outlet){.loop = command->service.loop,
                                              .display = &command->display,
                                              .fd = descriptors[i],
                                              .data = command,
                                              .taken = command_run_on_taken};
        outlet_open(&command->outlets[i]);
    }
}

static void command_run_wait_for_end(struct command_run *command)
{
    struct ev_loop *loop = command->service.loop;
    struct interruption interruption;

    interruption_start(&interruption, loop);
    step_display_init(&command->display, loop);
    command_run_open_outlets(command);
    step_line_init(&command->line, command->setting.environment->name);
    ev_run(loop, 0);
    if (interruption.signal)
        command_run_give_up(command, interruption_status(interruption.signal));
    for (int i = 0; i < PROCESS_STREAMS; i++)
        outlet_close(&command->outlets[i]);
    step_display_deinit(&command->display);
    interruption_stop(&interruption);
}

/* Runs the code to its end; returns the exit status. */
static int command_run_script(struct command_run *command, struct config *config)
{
    struct service *service = &command->service;
    AUTO_FREE char *start = place_find_start(command->options->file);
    struct error err = ERROR_INIT;

    if (service_open(service, config, SERVICE_KEEP_DIRECTORIES, start, &err) == 0 &&
        command_run_submit(command, &err) == 0)
        command_run_wait_for_end(command);
    else if (config_has_errors(config))
        command->status = command_fail_config(config);
    else
        command->status = command_fail(&err);
    service_stop(service);
    service_drain(service);
    working_directory_unref(command->directory);
    service_close(service);
    return command->status;
}

/* CODE of the command line, which is text, whatever it says itself. Owned by the caller. */
static char *command_run_read_text(const char *code, size_t *ret_length)
{
    char *correct = coding_line_correct(code, strlen(code), ret_length);

    if (correct)
        return correct;
    *ret_length = strlen(code);
    return memory_copy_string(code);
}

/* The script; owned by the caller, NULL with ERR. A file is bytes, and says itself in which
 * encoding. */
static char *command_run_read_script(const struct options *options, size_t *ret_length,
                                     struct error *err)
{
    char *script;

    if (options->code)
        return command_run_read_text(options->code, ret_length);
    if (strcmp(options->file, "-") != 0)
        return fd_read_file(options->file, PYTHON_CODE_BYTES, ret_length, err);
    script = fd_read_all(STDIN_FILENO, PYTHON_CODE_BYTES, ret_length, err);
    if (!script)
        error_prefix(err, "standard input");
    return script;
}

int command_run(const struct options *options)
{
    struct command_run command = {.options = options};
    struct error err = ERROR_INIT;
    AUTO_FREE char *code = command_run_read_script(options, &command.code.length, &err);
    struct config *config;
    int status;

    if (!code) {
        log_error("%s", err.message);
        return EX_NOINPUT;
    }
    command.code.text = code;
    config = command_load_config(options, &status);
    if (!config)
        return status;
    status = command_run_script(&command, config);
    config_free(config);
    return status;
}
