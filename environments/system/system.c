#include "environments/system/system.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/interpreter.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/python_places.h"
#include "environments/local.h"
#include "environments/reach.h"

#include <stdlib.h>

struct system_environment {
    struct environment environment;
    struct interpreter interpreter;
    const char *executable; /* of the definition, or NULL */
    char *state;            /* owned; the state directory, or NULL */
    char **needs;           /* owned; see python_needs.h */
};

static struct system_environment *system_of(struct environment *environment)
{
    return CONTAINER_OF(environment, struct system_environment, environment);
}

static const struct system_environment *const_system_of(const struct environment *environment)
{
    return CONTAINER_OF(environment, const struct system_environment, environment);
}

static bool system_is_prepared(const struct environment *environment)
{
    return interpreter_is_resolved(&const_system_of(environment)->interpreter);
}

static enum outcome system_prepare(struct environment *environment, struct error *err)
{
    struct system_environment *system = system_of(environment);

    system->interpreter.holding = environment_holding(environment, system->state);
    return interpreter_resolve(&system->interpreter, err);
}

static void system_cancel(struct environment *environment)
{
    interpreter_cancel(&system_of(environment)->interpreter);
}

static struct execution *system_start(struct environment *environment,
                                      const struct execution_request *request,
                                      struct execution_listener *listener, struct error *err)
{
    return local_start(environment, system_of(environment)->interpreter.executable, request,
                       listener, err);
}

static const char *system_describe_interpreter(const struct environment *environment)
{
    return const_system_of(environment)->interpreter.executable;
}

static const char *system_python_version(const struct environment *environment)
{
    return const_system_of(environment)->interpreter.version;
}

static const char *const *system_needs(const struct environment *environment)
{
    return (const char *const *)const_system_of(environment)->needs;
}

static char *system_find_python(const struct environment *environment)
{
    return interpreter_guess(&const_system_of(environment)->interpreter);
}

static void system_find_candidates(const struct environment *environment, struct python_places *ret)
{
    AUTO_FREE char *python = system_find_python(environment);

    *ret = (struct python_places){0};
    if (python)
        python_places_add(ret, python);
}

static json_t *system_describe_reach(const struct environment *environment)
{
    const char *named = const_system_of(environment)->executable;
    json_t *lines = json_array();

    reach_add(lines, "Python", "%s", named ? named : "python3 on the server's PATH");
    reach_add_machine(lines, environment);
    return lines;
}

static void system_on_found(struct interpreter *interpreter, const struct error *err)
{
    struct system_environment *system =
        CONTAINER_OF(interpreter, struct system_environment, interpreter);

    memory_free_strings(system->needs);
    system->needs =
        err ? NULL
            : python_needs_find(interpreter->executable,
                                (const char *const *)interpreter->directories, system->state);
    environment_end_preparation(&system->environment, err);
}

static void system_free(struct environment *environment)
{
    struct system_environment *system = system_of(environment);

    interpreter_deinit(&system->interpreter);
    memory_free_strings(system->needs);
    free(system->state);
    environment_deinit(environment);
    free(system);
}

static const struct environment_ops system_ops = {
    .kind = &system_kind,
    .is_prepared = system_is_prepared,
    .prepare = system_prepare,
    .cancel = system_cancel,
    .start = system_start,
    .delivery = local_delivery,
    .can_overlap = local_can_overlap,
    .describe_interpreter = system_describe_interpreter,
    .python_version = system_python_version,
    .needs = system_needs,
    .find_python = system_find_python,
    .find_candidates = system_find_candidates,
    .expected_receipt = local_expected_receipt,
    .reach = system_describe_reach,
    .free = system_free,
};

static struct environment *system_environment_new(struct environment_recipe *recipe,
                                                  const char **ret_key, struct error *err)
{
    struct system_environment *system = NEW(struct system_environment);

    (void)ret_key;
    (void)err;
    environment_init(&system->environment, &system_ops, recipe);
    system->executable = json_object_get_string(recipe->definition, "executable");
    system->state = recipe->state ? memory_copy_string(recipe->state) : NULL;
    interpreter_init(&system->interpreter, recipe->loop, recipe->host, system->executable);
    system->interpreter.done = system_on_found;
    return &system->environment;
}

const struct environment_kind system_kind = {
    .name = "system",
    .isolation = ISOLATION_NONE,
    .create = system_environment_new,
    .is_checkable = true,
};
