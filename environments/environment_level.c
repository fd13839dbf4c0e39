#include "environments/environment_level.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/sandbox_policy.h"

#include <stdlib.h>

/* Without a host nothing runs, and nothing is known of the machine. */
static bool environment_machine_holds(const struct environment *environment)
{
    const struct process_sandbox sandbox = sandbox_policy_outline(environment);

    return !environment->host || process_host_has_sandbox(environment->host, &sandbox);
}

static bool environment_can_be_held(const struct environment *environment)
{
    return !environment->unheld && environment_machine_holds(environment);
}

enum isolation environment_isolation(const struct environment *environment)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;

    if (!settings->is_wanted)
        return environment->ops->kind->isolation;
    if (!settings->is_optional || environment_can_be_held(environment))
        return ISOLATION_SANDBOX;
    return ISOLATION_NONE;
}

void environment_work_in(struct environment *environment, const char *directory)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    free(STEAL_PTR(environment->unheld));
    if (!directory || !settings->is_wanted || !settings->is_optional ||
        sandbox_policy_check_place(environment, directory, &err) == 0)
        return;
    environment->unheld = error_text(&err);
}

json_t *environment_given_up(const struct environment *environment)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;
    const struct process_sandbox sandbox = sandbox_policy_outline(environment);
    json_t *reasons;

    if (!settings->is_wanted || environment_isolation(environment) == ISOLATION_SANDBOX)
        return NULL;
    if (!environment->unheld)
        return json_copy((json_t *)process_host_receipt(environment->host, &sandbox).missing);
    reasons = json_array();
    json_array_append_new(reasons, json_string_format("sandbox: %s", environment->unheld));
    return reasons;
}

bool environment_lacks(const struct environment *environment, enum process_layer layer)
{
    struct process_receipt receipt;

    if (!environment->host)
        return false;
    receipt = environment->ops->expected_receipt(environment);
    return process_receipt_absent(&receipt) & layer;
}

struct tool_holding environment_holding(struct environment *environment, const char *state)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;

    return (struct tool_holding){
        .is_held = environment_isolation(environment) == ISOLATION_SANDBOX,
        .required = settings->required,
        .state = state,
        .opens = (const char *const *)settings->read,
        .absent = &environment->absent,
        .hosts = settings->hosts,
        .network = settings->network,
        .proxy = environment->proxy,
        .written = environment->written,
    };
}
