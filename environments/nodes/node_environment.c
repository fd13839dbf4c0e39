#include "environments/nodes/node_environment.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/nodes/node_execution.h"
#include "environments/packages/packages_definition.h"
#include "environments/reach.h"

#include <stdlib.h>

bool node_environment_is_wanted(const json_t *definition)
{
    return node_environment_pool(definition);
}

const json_t *node_environment_pool(const json_t *definition)
{
    return json_object_get(definition, "node");
}

/* They are told to people and models. */
static void node_environment_copy_places(char ***places, const json_t *paths)
{
    const json_t *path;
    size_t i;

    memory_free_strings(*places);
    *places = memory_new(json_array_size(paths) + 1, sizeof **places);
    json_array_foreach (paths, i, path)
        (*places)[i] = memory_copy_string(json_string_value(path));
}

int node_environment_read_sandbox(struct sandbox_settings *settings, const json_t *definition,
                                  const char **ret_key, struct error *err)
{
    AUTO_JSON json_t *rest = json_copy((json_t *)definition);

    json_object_del(rest, "read");
    json_object_del(rest, "write");
    settings->is_optional = false;
    settings->start = NULL;
    if (sandbox_settings_read(settings, rest, NULL, ret_key, err) < 0)
        return -1;
    node_environment_copy_places(&settings->read, json_object_get(definition, "read"));
    node_environment_copy_places(&settings->write, json_object_get(definition, "write"));
    return 0;
}

static struct node_environment *node_environment_of(struct environment *environment)
{
    return CONTAINER_OF(environment, struct node_environment, environment);
}

static const struct node_environment *
const_node_environment_of(const struct environment *environment)
{
    return CONTAINER_OF(environment, const struct node_environment, environment);
}

/* The preparation */

static struct node_environment *node_environment_at(struct node_stay *stay)
{
    return CONTAINER_OF(stay, struct node_environment, stay);
}

static void node_environment_on_granted(struct node_stay *stay)
{
    struct node_environment *node = node_environment_at(stay);

    (void)node_execution_introduce(node, stay);
    node_execution_ask(node, stay);
}

static void node_environment_on_step(struct node_stay *stay, const char *text)
{
    environment_step(&node_environment_at(stay)->environment, -1, "%s", text);
}

/* The node has named itself and its step: the error needs neither once more. */
static void node_environment_fail(struct node_environment *node, const char *why)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    node_pool_leave(&node->stay);
    node->environment.step.text[0] = '\0';
    error_set(&err, ERROR_UNAVAILABLE, "%s", why);
    environment_end_preparation(&node->environment, &err);
}

static void node_environment_on_lost(struct node_stay *stay, const char *why)
{
    node_environment_fail(node_environment_at(stay), why);
}

static void node_environment_on_told_step(struct node_environment *node, const json_t *message)
{
    const char *text = json_object_get_string(message, "text");

    if (text)
        environment_step(&node->environment, json_object_get_number(message, "fraction", -1), "%s",
                         text);
}

/* The facts have come, or why there are none. */
static void node_environment_on_end(struct node_environment *node, const json_t *message)
{
    const char *failure = json_object_get_string(message, "failure");

    if (failure || !node->facts.is_known) {
        node_environment_fail(node, failure ? failure : "its node has not said what it has");
        return;
    }
    node_pool_leave(&node->stay);
    environment_end_preparation(&node->environment, NULL);
}

static void node_environment_on_frame(struct node_stay *stay, enum node_frame type,
                                      const char *data, size_t length)
{
    struct node_environment *node = node_environment_at(stay);
    AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);

    if (type == NODE_STEP)
        node_environment_on_told_step(node, message);
    if (type == NODE_PREPARED)
        node_facts_read(&node->facts, message, node_stay_title(stay));
    if (type == NODE_ENDED)
        node_environment_on_end(node, message);
}

static bool node_environment_is_prepared(const struct environment *environment)
{
    return const_node_environment_of(environment)->facts.is_known;
}

static enum outcome node_environment_prepare(struct environment *environment, struct error *err)
{
    struct node_environment *node = node_environment_of(environment);

    (void)err;
    if (node_pool_enter(node->pool, &node->stay))
        node_environment_on_granted(&node->stay);
    return OUTCOME_PENDING;
}

static void node_environment_cancel(struct environment *environment)
{
    node_pool_leave(&node_environment_of(environment)->stay);
}

/* The runs */

static struct execution *node_environment_start(struct environment *environment,
                                                const struct execution_request *request,
                                                struct execution_listener *listener,
                                                struct error *err)
{
    return node_execution_start(node_environment_of(environment), request, listener, err);
}

/* Before a node is known, as it usually is. */
static enum script_delivery node_environment_delivery(const struct environment *environment)
{
    const struct node_environment *node = const_node_environment_of(environment);

    return node->facts.is_known ? node->facts.delivery : SCRIPT_LAID_OVER;
}

static bool node_environment_can_overlap(const struct environment *environment)
{
    return node_environment_delivery(environment) == SCRIPT_LAID_OVER;
}

static const struct environment_machines *
node_environment_machines(const struct environment *environment)
{
    return node_pool_machines(const_node_environment_of(environment)->pool);
}

static const char *node_environment_interpreter(const struct environment *environment)
{
    return const_node_environment_of(environment)->facts.interpreter;
}

static const char *node_environment_version(const struct environment *environment)
{
    return const_node_environment_of(environment)->facts.version;
}

/* Nothing is known to hold a run that has no node. */
static struct process_receipt node_environment_receipt(const struct environment *environment)
{
    return const_node_environment_of(environment)->facts.receipt;
}

static json_t *node_environment_reach(const struct environment *environment)
{
    const struct node_environment *node = const_node_environment_of(environment);
    const struct packages_definition packages = packages_definition_read(environment->definition);
    json_t *lines = json_array();

    reach_add(lines, "Machine", "a node of \"%s\"",
              node->pool ? node_pool_name(node->pool) : "a pool");
    reach_add_packages(lines, &packages);
    reach_add_machine(lines, environment);
    return lines;
}

static void node_environment_free(struct environment *environment)
{
    struct node_environment *node = node_environment_of(environment);

    node_pool_leave(&node->stay);
    if (node->pool)
        node_pool_release(node->pool);
    node_facts_deinit(&node->facts);
    environment_deinit(environment);
    free(node);
}

static const struct environment_kind node_kind = {
    .name = "another machine",
    .isolation = ISOLATION_NONE,
};

static const struct environment_ops node_ops = {
    .kind = &node_kind,
    .is_prepared = node_environment_is_prepared,
    .prepare = node_environment_prepare,
    .cancel = node_environment_cancel,
    .start = node_environment_start,
    .delivery = node_environment_delivery,
    .can_overlap = node_environment_can_overlap,
    .machines = node_environment_machines,
    .describe_interpreter = node_environment_interpreter,
    .python_version = node_environment_version,
    .expected_receipt = node_environment_receipt,
    .reach = node_environment_reach,
    .free = node_environment_free,
};

/* The node bounds the preparation itself; a scheduler may have it wait for longer. */
struct environment *node_environment_new(struct environment_recipe *recipe)
{
    struct node_environment *node = NEW(struct node_environment);

    environment_init(&node->environment, &node_ops, recipe);
    node->stay = (struct node_stay){
        .granted = node_environment_on_granted,
        .step = node_environment_on_step,
        .frame = node_environment_on_frame,
        .lost = node_environment_on_lost,
    };
    list_init(&node->stay.link);
    if (recipe->nodes) {
        node->pool = node_pool_hold(recipe->nodes, node_environment_pool(recipe->definition));
        node->number = nodes_number(recipe->nodes);
    }
    node->environment.settings.prepare_timeout = 0;
    return &node->environment;
}
