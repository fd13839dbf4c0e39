#include "environments/environment.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/state.h"
#include "environments/interpreter/script_places.h"
#include "environments/packages/import_record.h"
#include "environments/packages/python_facts.h"
#include "environments/real_path.h"
#include "environments/workplace/directory_file.h"
#include "environments/workplace/provided_files.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENVIRONMENT_FUNCTIONS "functions.py"

static const struct state environment_states[] = {
    [ENVIRONMENT_AT_REST] = {"at rest", 1 << ENVIRONMENT_PREPARING},
    [ENVIRONMENT_PREPARING] = {"preparing", 1 << ENVIRONMENT_AT_REST},
};

static int environment_check_paths(char *const *paths, struct error *err)
{
    for (size_t i = 0; paths && paths[i]; i++)
        if (!real_path_is_same(paths[i]))
            return error_set(err, ERROR_UNAVAILABLE,
                             "%s leads elsewhere than it did when it was checked", paths[i]);
    return 0;
}

/* Scripts get the very paths that were checked: none has become a link since. */
static int environment_check_all_paths(const struct environment *environment, struct error *err)
{
    const struct environment_settings *settings = &environment->settings;

    if (environment->ops->machines)
        return 0; /* they are theirs */
    if (environment_check_paths(settings->paths, err) < 0 ||
        environment_check_paths(settings->sandbox.read, err) < 0)
        return -1;
    return environment_check_paths(settings->sandbox.write, err);
}

/* The preparation */

static void environment_tell_step(const struct environment *environment,
                                  struct environment_waiter *waiter)
{
    if (waiter->progress && *environment->step.text)
        waiter->progress(waiter, &environment->step);
}

static void environment_say_step(struct environment *environment)
{
    LIST_FOR_EACH_SAFE (&environment->waiters, link) {
        environment_tell_step(environment, CONTAINER_OF(link, struct environment_waiter, link));
    }
}

void environment_step(struct environment *environment, double fraction, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(environment->step.text, sizeof environment->step.text, format, arguments);
    va_end(arguments);
    printable_clean(environment->step.text);
    environment->step.fraction = fraction;
    log_debug("preparing %s: %s", environment->name, environment->step.text);
    environment_say_step(environment);
}

static void environment_start_deadline(struct environment *environment)
{
    if (environment->settings.prepare_timeout <= 0)
        return;
    ev_now_update(environment->loop);
    ev_timer_set(&environment->deadline, environment->settings.prepare_timeout, 0.);
    ev_timer_start(environment->loop, &environment->deadline);
}

static void environment_set_state(struct environment *environment, enum environment_state state)
{
    state_change(environment_states, environment->state, state, "environment %s",
                 environment->name);
    environment->state = state;
    if (state == ENVIRONMENT_PREPARING)
        environment_start_deadline(environment);
    else
        ev_timer_stop(environment->loop, &environment->deadline);
}

/* Adds the environment and the step to the message. */
static int environment_blame(const struct environment *environment, struct error *err)
{
    const char *step = environment->step.text;

    if (!*step)
        return -1;
    return error_prefix(err, "cannot prepare environment \"%s\": %s", environment->name, step);
}

bool environment_is_prepared(const struct environment *environment)
{
    return environment->state == ENVIRONMENT_AT_REST && environment->ops->is_prepared(environment);
}

static void environment_on_success(struct environment *environment)
{
    AUTO_JSON json_t *names = process_layer_names(environment->absent);
    AUTO_FREE char *list = json_list(names);

    if (*list)
        log_warning("environment %s was prepared without: %s", environment->name, list);
    if (environment->observer)
        environment->observer->prepared(environment->observer, environment);
}

/* Begins the preparation of ENVIRONMENT, which is at rest. */
static enum outcome environment_begin_preparation(struct environment *environment,
                                                  struct error *err)
{
    enum outcome outcome;

    environment->step = (struct preparation_step){.fraction = -1};
    environment->absent = 0;
    outcome = environment->ops->prepare(environment, err);
    if (outcome == OUTCOME_FAILED)
        (void)environment_blame(environment, err);
    if (outcome == OUTCOME_PENDING)
        environment_set_state(environment, ENVIRONMENT_PREPARING);
    if (outcome == OUTCOME_READY)
        environment_on_success(environment);
    return outcome;
}

static void environment_add_waiter(struct environment *environment,
                                   struct environment_waiter *waiter)
{
    waiter->environment = environment;
    list_append(&environment->waiters, &waiter->link);
    environment_tell_step(environment, waiter);
}

enum outcome environment_prepare(struct environment *environment, struct environment_waiter *waiter,
                                 struct error *err)
{
    enum outcome outcome = OUTCOME_PENDING;

    if (environment->state == ENVIRONMENT_AT_REST) {
        if (environment_check_all_paths(environment, err) < 0)
            return OUTCOME_FAILED;
        if (environment_is_prepared(environment))
            return OUTCOME_READY;
        outcome = environment_begin_preparation(environment, err);
    }
    if (outcome == OUTCOME_PENDING)
        environment_add_waiter(environment, waiter);
    return outcome;
}

void environment_forget_waiter(struct environment_waiter *waiter)
{
    struct environment *environment = waiter->environment;

    list_remove(&waiter->link);
    waiter->environment = NULL;
    if (!environment || environment->state != ENVIRONMENT_PREPARING ||
        !list_is_empty(&environment->waiters))
        return;
    log_info("preparing %s was cancelled: no call waits for it any more", environment->name);
    environment_set_state(environment, ENVIRONMENT_AT_REST);
    environment->ops->cancel(environment);
}

/* Tells the callers that wait now. A caller that begins to wait meanwhile waits for the next
 * preparation. */
static void environment_tell_waiters(struct environment *environment, const struct error *err)
{
    struct list told;

    list_init(&told);
    while (!list_is_empty(&environment->waiters)) {
        struct list *link = environment->waiters.next;

        list_remove(link);
        list_append(&told, link);
    }
    while (!list_is_empty(&told)) {
        struct environment_waiter *waiter =
            CONTAINER_OF(told.next, struct environment_waiter, link);

        list_remove(&waiter->link);
        waiter->environment = NULL;
        waiter->prepared(waiter, err);
    }
}

void environment_end_preparation(struct environment *environment, const struct error *err)
{
    struct error_rest rest;
    struct error blamed = ERROR_INIT_LONG(&rest);

    environment_set_state(environment, ENVIRONMENT_AT_REST);
    if (!err) {
        environment_on_success(environment);
        environment_tell_waiters(environment, NULL);
        return;
    }
    error_copy(&blamed, err);
    (void)environment_blame(environment, &blamed);
    environment_tell_waiters(environment, &blamed);
}

static void environment_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct environment *environment = CONTAINER_OF(timer, struct environment, deadline);
    struct error err = ERROR_INIT;

    (void)loop;
    (void)events;
    environment->ops->cancel(environment);
    error_set(&err, ERROR_TIMEOUT,
              "not done after %g seconds, which is the limit (prepare_timeout)",
              environment->settings.prepare_timeout);
    environment_end_preparation(environment, &err);
}

static void environment_on_eagerly_prepared(struct environment_waiter *waiter,
                                            const struct error *err)
{
    const struct environment *environment = CONTAINER_OF(waiter, struct environment, eager);
    AUTO_FREE char *text = err ? error_text(err) : NULL;

    if (text)
        log_warning("%s; the next call that needs it tries again", text);
    else
        log_info("environment %s is prepared", environment->name);
}

/* The module that the operator gives to the scripts of the environment. */
static int environment_put_functions(const char *functions,
                                     const struct working_directory *directory, struct error *err)
{
    AUTO_JSON json_t *files = NULL;

    if (!functions)
        return 0;
    files = json_pack("[{s:s, s:s}]", "path", ENVIRONMENT_FUNCTIONS, "text", functions);
    return provided_files_put(files, directory, err);
}

/* The files of a call do not count as growth of its run: without this check each call could bring a
 * message full of files. */
static int environment_check_share(const struct working_directory *directory, const json_t *files,
                                   struct error *err)
{
    const struct disk_share share = working_directory_share(directory);
    AUTO_FREE char *text = NULL;

    if (!share.is_used_up || provided_files_check(files, DISK_SHARE_TIDYING_BYTES, err) == 0)
        return 0;
    text = disk_share_text(&share);
    return error_prefix(err, "%s", text);
}

/* The server itself writes files of calls, and no mount holds it. */
static int environment_check_kept(const struct environment *environment,
                                  const struct working_directory *directory, const json_t *files,
                                  struct error *err)
{
    const json_t *file;
    size_t i;

    json_array_foreach (files, i, file) {
        AUTO_FREE char *path = directory_file_path(json_object_get_string(file, "path"), err);
        AUTO_FREE char *whole =
            path ? memory_format("%s/%s", working_directory_path(directory), path) : NULL;

        if (!path)
            return -1;
        if (script_places_hold(environment->kept, whole))
            return error_set(err, ERROR_INVALID_ARGUMENTS,
                             "%s is only read here, as the server itself executes or reads "
                             "%.*s; use another name",
                             path, (int)strcspn(path, "/"), path);
    }
    return 0;
}

int environment_put_files(const struct environment *environment,
                          const struct working_directory *directory, const json_t *files,
                          struct error *err)
{
    const char *functions = environment->settings.functions;

    if (!files && !functions)
        return 0;
    if (environment_check_kept(environment, directory, files, err) < 0)
        return error_prefix(err, "files");
    if (environment_check_share(directory, files, err) < 0)
        return -1;
    /* The user that runs the scripts gets access to the files. */
    if (environment_admit(environment, working_directory_path(directory), err) < 0 ||
        environment_put_functions(functions, directory, err) < 0)
        return -1;
    return provided_files_put(files, directory, err);
}

const char *environment_kernel(const struct environment *environment)
{
    return json_object_get_string(environment->definition, "kernel");
}

const char *environment_lacks_tools(const struct environment *environment)
{
    char *const *tools = environment->settings.tools;

    if (!tools || !*tools || !environment->ops->lacks_sockets)
        return NULL;
    return environment->ops->lacks_sockets(environment);
}

/* Its life */

void environment_init(struct environment *environment, const struct environment_ops *ops,
                      struct environment_recipe *recipe)
{
    *environment = (struct environment){
        .ops = ops,
        .name = memory_copy_string(recipe->name),
        .definition = json_incref((json_t *)recipe->definition),
        .loop = recipe->loop,
        .host = recipe->host,
        .settings = recipe->settings,
        .proxy = recipe->proxy ? memory_copy_string(recipe->proxy) : NULL,
        .server_state = recipe->state ? memory_copy_string(recipe->state) : NULL,
        .written = recipe->written,
        .kept = recipe->kept,
        .imports = import_record_new(recipe->state, json_object_get(recipe->definition, "preload")),
        .eager.prepared = environment_on_eagerly_prepared,
    };
    recipe->settings.variables = NULL;
    recipe->settings.tools = NULL;
    recipe->settings.paths = NULL;
    recipe->settings.functions = NULL;
    recipe->settings.sandbox = (struct sandbox_settings){0};
    list_init(&environment->waiters);
    list_init(&environment->eager.link);
    list_init(&environment->survey);
    ev_timer_init(&environment->deadline, environment_on_deadline, 0., 0.);
}

void environment_deinit(struct environment *environment)
{
    assert(list_is_empty(&environment->waiters) && environment->users == 0);
    ev_timer_stop(environment->loop, &environment->deadline);
    python_facts_free(STEAL_PTR(environment->facts));
    import_record_free(STEAL_PTR(environment->imports));
    free(STEAL_PTR(environment->proxy));
    free(STEAL_PTR(environment->server_state));
    environment_settings_deinit(&environment->settings);
    json_decref(STEAL_PTR(environment->definition));
    free(STEAL_PTR(environment->unheld));
    free(environment->name);
    environment->name = NULL;
}

void environment_hold(struct environment *environment)
{
    environment->users++;
}

void environment_release(struct environment *environment)
{
    assert(environment->users > 0);
    environment->users--;
    if (environment->users == 0 && environment->ops->rest)
        environment->ops->rest(environment);
}

void environment_begin(struct environment *environment)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (environment->ops->begin)
        environment->ops->begin(environment);
    if (environment->settings.prepare == PREPARE_EAGER &&
        environment_prepare(environment, &environment->eager, &err) == OUTCOME_FAILED)
        environment_on_eagerly_prepared(&environment->eager, &err);
}

void environment_learn(struct environment *environment, struct python_facts *facts)
{
    python_facts_free(environment->facts);
    environment->facts = facts;
}

int environment_admit(const struct environment *environment, const char *directory,
                      struct error *err)
{
    return environment->ops->admit ? environment->ops->admit(environment, directory, err) : 0;
}

/* The reason why no mount keeps the file at PATH from scripts, or NULL. */
static const char *environment_explain_unkept(const char *path)
{
    struct stat status;

    if (lstat(path, &status) < 0)
        return "is gone, and scripts could make it anew";
    if (S_ISDIR(status.st_mode))
        return NULL;
    if (!S_ISREG(status.st_mode))
        return "is a link or a socket now, which scripts could replace";
    return status.st_nlink > 1
               ? "has a second name now (a hard link), by which scripts could write it"
               : NULL;
}

/* The operator may have changed what was there when the configuration was read. */
static int environment_check_kept_files(const struct environment *environment, struct error *err)
{
    char *const *path = environment->kept ? environment->kept->paths : NULL;

    for (; path && *path; path++) {
        const char *why = environment_explain_unkept(*path);

        if (why)
            return error_set(err, ERROR_UNAVAILABLE,
                             "%s %s: put it back, or have the server read a configuration that "
                             "does not need it",
                             *path, why);
    }
    return 0;
}

struct execution *environment_start(struct environment *environment,
                                    const struct execution_request *request,
                                    struct execution_listener *listener, struct error *err)
{
    if (environment_check_all_paths(environment, err) < 0 ||
        (request->isolation != ISOLATION_NONE &&
         environment_check_kept_files(environment, err) < 0))
        return NULL;
    return environment->ops->start(environment, request, listener, err);
}

const char *const *environment_needs(const struct environment *environment)
{
    return environment->ops->needs ? environment->ops->needs(environment) : NULL;
}

enum script_delivery environment_delivery(const struct environment *environment)
{
    return environment->ops->delivery(environment);
}

bool environment_can_overlap(const struct environment *environment)
{
    return environment->ops->can_overlap(environment);
}

const struct environment_machines *environment_machines_of(const struct environment *environment)
{
    return environment->ops->machines ? environment->ops->machines(environment) : NULL;
}

void environment_stop(struct environment *environment)
{
    environment_forget_waiter(&environment->eager);
    if (environment->ops->stop)
        environment->ops->stop(environment);
}

bool environment_is_idle(const struct environment *environment)
{
    return !environment->ops->is_idle || environment->ops->is_idle(environment);
}

void environment_free(struct environment *environment)
{
    if (environment)
        environment->ops->free(environment);
}
