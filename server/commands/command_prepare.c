/* `pyexecd prepare`: prepares all environments, or the named ones, before calls need them. It works
 * in parallel as the server would. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/commands/step_display.h"
#include "server/commands/terminal.h"
#include "server/configuration/config.h"
#include "server/service.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

struct command_preparation {
    struct preparing *preparing; /* borrowed: the preparations it is part of */
    struct environment *environment;
    struct environment_waiter waiter;
    struct step_line line;
    enum outcome outcome; /* PENDING while it goes */
    struct error err;
    struct error_rest rest; /* of its message */
    double seconds;         /* that it took */
};

/* All preparations of one invocation. */
struct preparing {
    const struct options *options; /* borrowed */
    struct service service;
    struct step_display display;
    struct terminal output;
    struct command_preparation *preparations; /* owned */
    size_t count;
    size_t going; /* preparations that go on */
    int status;   /* of the program */
};

/* "3.2 s", "31 ms". Owned by the caller. */
static char *describe_seconds(double seconds)
{
    if (seconds < 1)
        return memory_format("%.0f ms", seconds * 1e3);
    return memory_format(seconds < 100 ? "%.1f s" : "%.0f s", seconds);
}

static void print_ready(struct preparing *preparing, const struct command_preparation *preparation)
{
    const struct environment *environment = preparation->environment;
    const char *version = environment->ops->python_version(environment);
    AUTO_FREE char *seconds = describe_seconds(preparation->seconds);
    AUTO_JSON json_t *names = process_layer_names(environment->absent);
    AUTO_FREE char *absent = json_list(names);

    if (preparing->options->json)
        return;
    printf("%s: %sready%s, %s%s%s%s%s%s\n", environment->name, terminal_green(&preparing->output),
           terminal_plain(&preparing->output), version ? "Python " : "", text_or_none(version),
           version ? ", " : "", seconds, *absent ? "; prepared without: " : "", absent);
    if (fflush(stdout) == EOF)
        preparing->status = EX_IOERR;
}

/* The first failure sets the status. */
static void tell_failure(struct preparing *preparing, struct command_preparation *preparation)
{
    const struct environment *environment = preparation->environment;
    int status = command_exit_status(&preparation->err);
    AUTO_FREE char *text = NULL;

    if (!*environment->step.text) /* else the environment has named itself, and the step */
        (void)error_prefix(&preparation->err, "cannot prepare environment \"%s\"",
                           environment->name);
    text = error_text(&preparation->err);
    log_error("%s", text);
    if (preparing->status == EX_OK)
        preparing->status = status;
}

/* The one way out of a preparation. */
static void command_prepare_conclude(struct command_preparation *preparation, enum outcome outcome)
{
    struct preparing *preparing = preparation->preparing;

    preparation->outcome = outcome;
    preparation->seconds = clock_seconds() - preparation->line.started;
    step_display_remove(&preparing->display, &preparation->line);
    if (outcome == OUTCOME_READY)
        print_ready(preparing, preparation);
    else
        tell_failure(preparing, preparation);
    if (--preparing->going == 0)
        ev_break(preparing->service.loop, EVBREAK_ALL);
}

static void command_prepare_on_progress(struct environment_waiter *waiter,
                                        const struct preparation_step *step)
{
    struct command_preparation *preparation =
        CONTAINER_OF(waiter, struct command_preparation, waiter);

    step_display_update(&preparation->preparing->display, &preparation->line, step);
}

static void command_prepare_on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct command_preparation *preparation =
        CONTAINER_OF(waiter, struct command_preparation, waiter);

    command_prepare_conclude(preparation, command_keep(err, &preparation->err));
}

static void command_prepare_begin(struct command_preparation *preparation)
{
    enum outcome outcome;

    preparation->err.rest = &preparation->rest;
    step_line_init(&preparation->line, preparation->environment->name);
    preparation->waiter.progress = command_prepare_on_progress;
    preparation->waiter.prepared = command_prepare_on_prepared;
    list_init(&preparation->waiter.link);
    step_display_add(&preparation->preparing->display, &preparation->line);
    outcome = environment_prepare(preparation->environment, &preparation->waiter, //
                                  &preparation->err);
    if (outcome != OUTCOME_PENDING)
        command_prepare_conclude(preparation, outcome);
}

static void command_prepare_give_up(struct command_preparation *preparation)
{
    const struct environment *environment = preparation->environment;
    const char *step = environment->step.text;

    environment_forget_waiter(&preparation->waiter);
    error_set(&preparation->err, ERROR_UNAVAILABLE, "given up");
    if (*step)
        (void)error_prefix(&preparation->err, "cannot prepare environment \"%s\": %s",
                           environment->name, step);
    command_prepare_conclude(preparation, OUTCOME_FAILED);
}

static void prepare_all(struct preparing *preparing)
{
    struct interruption interruption;

    preparing->going = preparing->count;
    interruption_start(&interruption, preparing->service.loop);
    for (size_t i = 0; i < preparing->count; i++)
        command_prepare_begin(&preparing->preparations[i]);
    if (preparing->going > 0)
        ev_run(preparing->service.loop, 0);
    for (size_t i = 0; i < preparing->count; i++)
        if (preparing->preparations[i].outcome == OUTCOME_PENDING)
            command_prepare_give_up(&preparing->preparations[i]);
    interruption_stop(&interruption);
    if (interruption.signal)
        preparing->status = interruption_status(interruption.signal);
}

static json_t *command_prepare_describe(const struct command_preparation *preparation)
{
    const struct environment *environment = preparation->environment;
    bool is_ready = preparation->outcome == OUTCOME_READY;

    const char *version = is_ready ? environment->ops->python_version(environment) : NULL;
    AUTO_FREE char *text = is_ready ? NULL : error_text(&preparation->err);
    json_t *error = is_ready ? NULL : json_string_format("%s", text);
    json_t *absent = environment->absent ? process_layer_names(environment->absent) : NULL;

    return json_pack("{s:s, s:b, s:s*, s:o*, s:f, s:o*}",          //
                     "name", environment->name, "ready", is_ready, //
                     "python_version", version,                    //
                     "absent", absent,                             //
                     "seconds", round(preparation->seconds * 1e3) / 1e3, "error", error);
}

static void command_prepare_print_json(struct preparing *preparing)
{
    AUTO_JSON json_t *list = json_array();

    for (size_t i = 0; i < preparing->count; i++)
        json_array_append_new(list, command_prepare_describe(&preparing->preparations[i]));
    if (command_print_json(list) != EX_OK)
        preparing->status = EX_IOERR;
}

static bool command_prepare_has_name(const struct preparing *preparing,
                                     const struct environment *environment)
{
    for (size_t i = 0; i < preparing->count; i++)
        if (preparing->preparations[i].environment == environment)
            return true;
    return false;
}

static void command_prepare_add(struct preparing *preparing, struct environment *environment)
{
    if (!command_prepare_has_name(preparing, environment))
        preparing->preparations[preparing->count++] = (struct command_preparation){
            .preparing = preparing, .environment = environment, .outcome = OUTCOME_PENDING};
}

static int command_prepare_choose(struct preparing *preparing, const char *name, struct error *err)
{
    struct environment *environment = service_find_environment(&preparing->service, name, err);

    if (!environment)
        return -1;
    command_prepare_add(preparing, environment);
    return 0;
}

/* The named environments, or all. */
static int choose_all(struct preparing *preparing, struct error *err)
{
    const struct catalog *catalog = preparing->service.catalog;
    char *const *names = preparing->options->names;
    size_t i;

    preparing->preparations = memory_new(catalog_count(catalog), sizeof *preparing->preparations);
    for (i = 0; names[i]; i++)
        if (command_prepare_choose(preparing, names[i], err) < 0)
            return -1;
    if (i > 0)
        return 0;
    for (i = 0; i < catalog_count(catalog); i++)
        command_prepare_add(preparing, catalog_at(catalog, i));
    return 0;
}

static int command_prepare_all(struct preparing *preparing, struct config *config)
{
    struct service *service = &preparing->service;
    struct error err = ERROR_INIT;

    terminal_init(&preparing->output, STDOUT_FILENO);
    if (service_open(service, config, SERVICE_DROP_DIRECTORIES, NULL, &err) == 0 &&
        choose_all(preparing, &err) == 0) {
        step_display_init(&preparing->display, service->loop);
        prepare_all(preparing);
        step_display_deinit(&preparing->display);
        if (preparing->options->json)
            command_prepare_print_json(preparing);
    } else {
        preparing->status =
            config_has_errors(config) ? command_fail_config(config) : command_fail(&err);
    }
    service_stop(service);
    service_drain(service);
    service_close(service);
    free(preparing->preparations);
    return preparing->status;
}

int command_prepare(const struct options *options)
{
    struct preparing preparing = {.options = options};
    int status;
    struct config *config = command_load_config(options, &status);

    if (!config)
        return status;
    status = command_prepare_all(&preparing, config);
    config_free(config);
    return status;
}
