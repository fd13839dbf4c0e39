#include "server/service.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "base/text.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/instance.h"
#include "environments/interpreter/script_places.h"
#include "environments/kinds/kinds.h"
#include "environments/nodes/node_environment.h"
#include "environments/nodes/node_pool.h"
#include "environments/notebook/notebooks.h"
#include "environments/process/process.h"
#include "environments/workplace/working_directory.h"
#include "schemas/schemas.h"
#include "server/companions.h"
#include "server/configuration/config.h"
#include "server/configuration/sandbox_checks.h"
#include "server/functions_file.h"
#include "server/loop.h"
#include "server/origin_checks.h"
#include "server/state_checks.h"
#include "server/state_directory.h"
#include "server/tool_servers.h"
#include "toolbox/toolbox.h"

#include <stdlib.h>
#include <string.h>

/* A killed tree is gone within PROCESS_EMPTY_SECONDS, or never; a container takes longer. */
#define DRAIN_SECONDS 4.5

static double service_number(const json_t *tree, const char *key)
{
    return json_number_value(json_object_get(tree, key));
}

static struct environment_settings default_settings(const json_t *tree, const char *start)
{
    struct environment_settings settings = {
        .sandbox = {.is_wanted = true, .is_optional = true, .start = start},
        .cpus = schemas_default_cpus,
    };

    environment_settings_read(&settings, tree);
    return settings;
}

json_t *service_node(const json_t *nodes, const char *name)
{
    json_t *node = json_copy(json_object_get(nodes, name));

    json_object_set_new(node, "name", json_string(name));
    return node;
}

/* DEFINITION with the definition of its node, if it has one, in place of the name: environments of
 * equal definitions are equal. New reference. */
static json_t *service_add_node(const json_t *definition, const json_t *nodes)
{
    const char *name = json_object_get_string(definition, "node");
    json_t *extended;

    if (!name)
        return json_incref((json_t *)definition);
    extended = json_copy((json_t *)definition);
    json_object_set_new(extended, "node", service_node(nodes, name));
    return extended;
}

/* False, with ERR, and in *RET_KEY the key to blame, when an environment cannot be made so. */
static bool service_add(struct catalog *catalog, const char *name, const json_t *definition,
                        struct environment_settings *defaults, const char **ret_key,
                        struct error *err)
{
    AUTO_JSON json_t *extended = functions_file_read(definition, &defaults->functions, err);
    bool was_added;

    *ret_key = "functions";
    was_added = extended && catalog_add(catalog, name, extended, defaults, ret_key, err) == 0;
    free(STEAL_PTR(defaults->functions));
    return was_added;
}

struct catalog *service_open_catalog(const struct catalog_settings *settings, struct config *config,
                                     const char *start)
{
    const json_t *tree = config_tree(config);
    struct environment_settings defaults = default_settings(tree, start);
    struct catalog *catalog = catalog_new(settings);
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(tree, "environments"), name, definition) {
        AUTO_JSON json_t *whole = service_add_node(definition, json_object_get(tree, "nodes"));
        const char *key = NULL;
        struct error err = ERROR_INIT;

        if (!sandbox_checks_places(config, name, definition, settings->state) ||
            service_add(catalog, name, whole, &defaults, &key, &err))
            continue;
        /* Names are of letters that a JSON Pointer need not escape. */
        config_complain(config, err.message, "/environments/%s%s%s", name, key ? "/" : "",
                        text_or_none(key));
    }
    catalog_complete(catalog);
    if (settings->state) {
        state_checks(catalog, config);
        origin_checks(catalog, config);
    }
    return catalog;
}

/* An environment that a call defines is no way out of the sandbox: it has one as strict as the
 * strictest of the operator's environments, in which nothing is opened. If the operator has
 * environments on this machine and none has a sandbox, it has none. */
static void service_hold_callers(struct sandbox_settings *sandbox, const json_t *environments)
{
    const struct sandbox_settings usual = *sandbox;
    unsigned free = 0;
    unsigned held = 0;
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)environments, name, definition) {
        struct sandbox_settings own = usual;

        if (environment_kinds_isolation(definition) == ISOLATION_DOCKER)
            continue;
        sandbox_settings_read_level(&own, definition);
        *(own.is_wanted ? &held : &free) += 1;
        sandbox->is_optional &= !own.is_wanted || own.is_optional;
        sandbox->required |= own.required;
    }
    sandbox->is_wanted = held > 0 || free == 0;
}

struct caller_rules *service_open_rules(struct config *config, const char *start)
{
    const json_t *tree = config_tree(config);
    const json_t *callers = json_object_get(tree, "callers");
    struct environment_settings defaults = default_settings(tree, start);
    struct error err = ERROR_INIT;
    size_t index = 0;
    struct caller_rules *rules;

    service_hold_callers(&defaults.sandbox, json_object_get(tree, "environments"));
    rules = caller_rules_new(json_object_get(callers, "allowed_images"),
                             json_object_get(callers, "allowed_paths"), &defaults, &index, &err);
    if (!rules)
        config_complain(config, err.message, "/callers/allowed_images/%zu", index);
    return rules;
}

/* Warns once for each missing feature, when it is noticed. A limit that holds by other means is no
 * warning: it would stand before each result of an ordinary user. */
static void service_on_missing(void *data, const char *what)
{
    (void)data;
    if (process_receipt_is_replaced(what))
        log_info("a limit is enforced without a cgroup: %s", what);
    else
        log_warning("containment is weaker than it could be: %s", what);
}

static bool service_is_best_effort(const json_t *tree)
{
    const char *containment = json_object_get_string(tree, "containment");

    return containment && strcmp(containment, "best-effort") == 0;
}

static int open_host(struct service *service, const json_t *tree, struct error *err)
{
    AUTO_FREE char *runner = companions_find(COMPANION_RUNNER);
    AUTO_FREE char *core = companions_find(COMPANION_CORE);

    service->host = process_host_new(
        &(struct process_host_settings){
            .loop = service->loop,
            .runner_path = runner,
            .core_path = core,
            .policy = {.wanted = LAYERS_OF_TREES | LAYERS_OF_SANDBOX,
                       .required = service_is_best_effort(tree) ? 0 : LAYERS_OF_TREES},
            .missing = service_on_missing,
        },
        err);
    return service->host ? 0 : -1;
}

static struct executor_settings read_queue(struct service *service, const json_t *tree)
{
    const json_t *limits = json_object_get(tree, "limits");
    unsigned queued = (unsigned)service_number(limits, "queued_runs");

    return (struct executor_settings){
        .loop = service->loop,
        .concurrent_runs = (unsigned)service_number(limits, "concurrent_runs"),
        .queued_runs = queued,
        .queued_runs_per_client = (queued + 1) / 2,
        .queued_runs_per_owner = (3 * queued + 3) / 4,
    };
}

/* The name of this server among its replicas; NULL: it has none. Borrowed. */
static const char *service_replica(const json_t *tree)
{
    return json_object_get_string(json_object_get(tree, "replicas"), "self");
}

/* None are opened unless the operator wants them. */
static struct notebooks_settings service_read_sessions(struct service *service, const json_t *tree)
{
    const json_t *sessions = json_object_get(tree, "sessions");

    return (struct notebooks_settings){
        .loop = service->loop,
        .most = (unsigned)service_number(sessions, "number"),
        .most_per_owner = (unsigned)service_number(sessions, "number_per_client"),
        .idle_seconds = service_number(sessions, "session_idle"),
        .replica = service_replica(tree),
    };
}

/* The root of the directories that are made for callers. Directories that are dropped with the
 * program have their own root, since servers that keep theirs do not look there. Owned by the
 * caller. */
static char *service_open_root(const char *kind, enum service_keeping keeping, struct error *err)
{
    AUTO_FREE char *state = strcmp(kind, "memory") == 0 ? state_directory_open_in_memory(err)
                                                        : state_directory_open(err);

    if (!state)
        return NULL;
    return memory_format("%s/%s", state, keeping == SERVICE_KEEP_DIRECTORIES ? "work" : "once");
}

/* One directory for runs of different isolation: files that a weakly isolated run leaves there are
 * code for the other runs. Which environments go without a sandbox shows only now. */
static void service_settle_directory(struct service *service, const struct catalog *catalog,
                                     struct config *config)
{
    const json_t *tree = config_tree(config);
    const struct environment *unheld = NULL;
    unsigned isolations = 0;
    AUTO_FREE char *message = NULL;

    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);

        isolations |= 1U << environment_isolation(environment);
        if (environment->unheld)
            unheld = environment;
    }
    if (json_is_true(json_object_get(tree, "share_directory_across_isolation")))
        isolations = (1U << ISOLATIONS) - 1;
    else if (unheld && isolations & ~(1U << ISOLATION_NONE)) {
        message =
            memory_format("is for environments with a sandbox and for %s, which can have none "
                          "there (%s); share_directory_across_isolation: true allows that",
                          unheld->name, unheld->unheld);
        config_complain(config, message, "/working_directory");
    }
    workplace_set_isolations(service->workplace, isolations);
}

static bool service_has_directory(const json_t *tree)
{
    return *json_object_get_string(tree, "working_directory") == '/';
}

static int open_workplace(struct service *service, struct config *config,
                          enum service_keeping keeping, struct error *err)
{
    const json_t *tree = config_tree(config);
    const char *kind = json_object_get_string(tree, "working_directory");
    AUTO_FREE char *root = service_open_root(kind, keeping, err);

    if (!root)
        return -1;
    service->workplace = workplace_new(
        &(struct workplace_settings){
            .loop = service->loop,
            .path = *kind == '/' ? kind : NULL,
            .root = root,
            .keep_seconds =
                keeping == SERVICE_KEEP_DIRECTORIES ? service_number(tree, "keep_for") : 0,
            .replica = service_replica(tree),
        },
        err);
    if (!service->workplace && *kind == '/')
        config_complain(config, err->message, "/working_directory");
    service->nodes = nodes_new(&(struct nodes_settings){
        .loop = service->loop,
        .place = *kind == '/' ? kind : root,
        .is_best_effort = service_is_best_effort(tree),
    });
    return service->workplace ? 0 : -1;
}

/* Packages of sessions are on disk, too, even if working directories are in memory. */
static int service_open_annexes(struct service *service, const struct notebooks_settings *sessions,
                                struct error *err)
{
    AUTO_FREE char *root = NULL;

    if (sessions->most == 0)
        return 0;
    root = memory_format("%s/" ANNEXES_NAME, catalog_settings(service->catalog)->state);
    return workplace_open_annexes(service->workplace, root, err);
}

/* Environments keep their files on disk even if working directories are in memory. */
static int open_catalog(struct service *service, struct config *config, const char *start,
                        struct error *err)
{
    AUTO_FREE char *state = state_directory_open(err);
    AUTO_FREE char *container_init = companions_find(COMPANION_CONTAINER_INIT);
    AUTO_FREE char *proxy = companions_find(COMPANION_PROXY);

    if (!state)
        return -1;
    service->instance = instance_new(state, err);
    if (!service->instance)
        return -1;
    service->start = service_find_start(start, state);
    service->catalog = service_open_catalog(
        &(struct catalog_settings){
            .loop = service->loop,
            .host = service->host,
            .state = state,
            .instance = service->instance,
            .container_init = container_init,
            .proxy = proxy,
            .nodes = service->nodes,
            .directory = workplace_path(service->workplace),
        },
        config, service->start);
    if (service_has_directory(config_tree(config)))
        service_settle_directory(service, service->catalog, config);
    return 0;
}

static void service_open_tools(struct service *service, struct config *config)
{
    service->toolbox = toolbox_new(&(struct toolbox_settings){
        .loop = service->loop,
        .host = service->host,
        .version = PYEXECD_VERSION,
    });
    toolbox_adopt(service->toolbox, tool_servers_read(config, service->catalog));
    service->channels = (struct script_channels){.loop = service->loop,
                                                 .toolbox = service->toolbox,
                                                 .catalog.loop = service->loop,
                                                 .catalog.toolbox = service->toolbox};
}

char *service_find_start(const char *path, const char *state)
{
    struct error ignored = ERROR_INIT;

    return path ? sandbox_settings_resolve(path, "read", state, &ignored) : NULL;
}

int service_open(struct service *service, struct config *config, enum service_keeping keeping,
                 const char *start, struct error *err)
{
    const json_t *tree = config_tree(config);
    struct executor_settings queue;
    struct notebooks_settings sessions;

    *service = (struct service){
        .loop = loop_new(),
        .config = config,
        .picture_helper = companions_find(COMPANION_PICTURE),
        .default_environment = json_object_get_string(tree, "default_environment"),
    };
    if (!service->loop)
        return error_set(err, ERROR_SYSTEM, "cannot make an event loop");
    if (open_host(service, tree, err) < 0 || open_workplace(service, config, keeping, err) < 0)
        return -1;
    process_host_try_sandbox(service->host);
    if (service_has_directory(tree))
        process_host_try_root(service->host);
    queue = read_queue(service, tree);
    service->executor = executor_new(&queue);
    sessions = service_read_sessions(service, tree);
    service->notebooks = notebooks_new(&sessions);
    if (open_catalog(service, config, start, err) < 0)
        return -1;
    if (service_open_annexes(service, &sessions, err) < 0)
        return -1;
    service->rules = service_open_rules(config, service->start);
    service_open_tools(service, config);
    if (config_has_errors(config))
        return error_set(err, ERROR_CONFIG, "the configuration has errors");
    return 0;
}

/* Sessions and containers that are there can write what NEXT would keep from them. */
static void service_check_kept(const struct service *service, const struct catalog *next,
                               struct config *config)
{
    const char *path = catalog_find_unkept(service->catalog, next);
    AUTO_FREE char *message = NULL;

    if (!path)
        return;
    message = memory_format("scripts must only read %s from now on, and those that are running "
                            "can write it: start the server anew",
                            path);
    config_complain(config, message, "/working_directory");
}

int service_reload(struct service *service, struct config *config)
{
    const json_t *tree = config_tree(config);
    struct executor_settings queue = read_queue(service, tree);
    struct notebooks_settings sessions = service_read_sessions(service, tree);
    struct caller_rules *rules = service_open_rules(config, service->start);
    struct error unopened = ERROR_INIT;
    struct catalog *catalog =
        service_open_catalog(catalog_settings(service->catalog), config, service->start);
    struct toolbox_plan *tools = tool_servers_read(config, catalog);

    if (service_has_directory(tree))
        service_settle_directory(service, catalog, config);
    service_check_kept(service, catalog, config);
    if (config_has_errors(config)) {
        caller_rules_free(rules);
        catalog_free(catalog);
        toolbox_plan_free(tools);
        return -1;
    }
    service->config = config;
    service->default_environment = json_object_get_string(tree, "default_environment");
    caller_rules_free(service->rules);
    service->rules = rules;
    catalog_replace(service->catalog, catalog);
    toolbox_adopt(service->toolbox, tools);
    executor_set_limits(service->executor, &queue);
    notebooks_set_limits(service->notebooks, &sessions);
    if (service_open_annexes(service, &sessions, &unopened) < 0)
        log_warning("sessions install no packages: %s", unopened.message);
    workplace_set_keeping(service->workplace, service_number(tree, "keep_for"));
    return 0;
}

int service_check_directory(const struct service *service, const struct environment *environment,
                            const char *directory, struct script_places *ret_kept,
                            struct error *err)
{
    if (environment_isolation(environment) == ISOLATION_SANDBOX &&
        !environment_machines_of(environment))
        process_host_try_root(service->host);
    return origin_checks_directory(service->catalog, service->config, environment, directory,
                                   ret_kept, err);
}

void service_work_in(struct service *service, const char *directory,
                     const struct script_places *kept)
{
    catalog_work_in(service->catalog, directory);
    catalog_protect(service->catalog, (const char *const *)kept->paths);
    toolbox_adopt(service->toolbox, tool_servers_read(service->config, service->catalog));
}

/* Lists the names, where NAME is like none of them. */
static void service_list_environments(const struct service *service, const char *name,
                                      struct error *err)
{
    AUTO_JSON json_t *names = json_array();
    AUTO_FREE char *list = NULL;

    for (size_t i = 0; i < catalog_count(service->catalog); i++)
        json_array_append_new(names, json_string(catalog_at(service->catalog, i)->name));
    list = json_list(names);
    error_set(err, ERROR_USAGE, "there is no environment \"%s\", but: %s", name, list);
}

struct environment *service_find_environment(const struct service *service, const char *name,
                                             struct error *err)
{
    struct environment *environment = catalog_find(service->catalog, name);
    struct spelling spelling = SPELLING_INIT(name);

    if (environment)
        return environment;
    for (size_t i = 0; i < catalog_count(service->catalog); i++)
        spelling_try(&spelling, catalog_at(service->catalog, i)->name);
    if (spelling.nearest)
        error_set(err, ERROR_USAGE, "there is no environment \"%s\", did you mean \"%s\"?", name,
                  spelling.nearest);
    else
        service_list_environments(service, name, err);
    return NULL;
}

void service_begin(struct service *service)
{
    catalog_begin(service->catalog);
}

/* Preparations run processes in the host, so they end before it. */
void service_stop(struct service *service)
{
    if (service->executor)
        executor_stop(service->executor);
    if (service->notebooks)
        notebooks_stop(service->notebooks);
    if (service->catalog)
        catalog_stop(service->catalog);
    if (service->nodes)
        nodes_stop(service->nodes);
    tool_catalog_deinit(&service->channels.catalog);
    if (service->toolbox)
        toolbox_stop(service->toolbox);
    if (service->host)
        process_host_stop(service->host);
}

static bool service_is_idle(const struct service *service)
{
    return (!service->executor || executor_is_idle(service->executor)) &&
           notebooks_are_idle(service->notebooks) &&
           (!service->catalog || catalog_is_idle(service->catalog)) &&
           (!service->nodes || nodes_are_idle(service->nodes)) &&
           (!service->toolbox || toolbox_is_idle(service->toolbox)) &&
           (!service->host || process_host_is_idle(service->host));
}

struct draining {
    const struct service *service;
    struct ev_prepare prepare; /* looks, each time before the loop would wait */
    struct ev_timer deadline;
};

static void service_on_prepare(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
    const struct draining *draining = CONTAINER_OF(prepare, struct draining, prepare);

    (void)events;
    if (service_is_idle(draining->service))
        ev_break(loop, EVBREAK_ALL);
}

static void service_on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

void service_drain(struct service *service)
{
    struct draining draining = {.service = service};

    if (!service->loop)
        return;
    ev_prepare_init(&draining.prepare, service_on_prepare);
    ev_prepare_start(service->loop, &draining.prepare);
    ev_timer_init(&draining.deadline, service_on_deadline, DRAIN_SECONDS, 0);
    ev_now_update(service->loop);
    ev_timer_start(service->loop, &draining.deadline);
    ev_run(service->loop, 0);
    ev_timer_stop(service->loop, &draining.deadline);
    ev_prepare_stop(service->loop, &draining.prepare);
    if (service->nodes)
        nodes_kill(service->nodes);
}

/* A copy of a service that could not be freed keeps it reachable, so that it does not look like a
 * leak. */
static struct service service_left __attribute__((used));

/* Nothing can be freed before everything of theirs is gone. On a busy machine that may take longer
 * than the end of the server may: then the kernel frees it. */
void service_close(struct service *service)
{
    if (!service_is_idle(service)) {
        service_left = *service;
        return;
    }
    executor_free(service->executor);
    notebooks_free(service->notebooks);
    catalog_free(service->catalog);
    nodes_free(service->nodes);
    caller_rules_free(service->rules);
    toolbox_free(service->toolbox);
    process_host_free(service->host);
    instance_free(service->instance);
    workplace_free(service->workplace);
    free(service->picture_helper);
    free(service->start);
    if (service->loop)
        ev_loop_destroy(service->loop);
    *service = (struct service){0};
}
