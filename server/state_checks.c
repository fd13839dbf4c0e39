#include "server/state_checks.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/interpreter/script_places.h"
#include "environments/real_path.h"
#include "environments/sandbox_policy.h"
#include "server/configuration/config.h"
#include "server/state_directory.h"

#include <stdbool.h>
#include <stdlib.h>

/* True if PLACE, a real path, holds the state, lies in it, or has a link on the way to it. */
static bool state_checks_meet(const char *state, const char *place)
{
    char *const paths[] = {(char *)place, NULL};
    const struct script_places places = {(char **)paths};
    AUTO_FREE char *real = realpath(state, NULL);

    return script_places_reach(&places, state) || (real && real_path_holds(real, place));
}

bool state_checks_keep(const struct environment *environment, const char *directory)
{
    return !sandbox_policy_holds_home(directory) &&
           (environment->settings.sandbox.is_wanted ||
            environment_isolation(environment) != ISOLATION_NONE);
}

static void state_checks_directory(const struct catalog *catalog, const char *state,
                                   const char *directory, struct config *config)
{
    AUTO_FREE char *message =
        memory_format("meets the server's own state (%s), which scripts never get: name another "
                      "directory",
                      state);

    for (size_t i = 0; i < catalog_count(catalog); i++)
        if (state_checks_keep(catalog_at(catalog, i), directory)) {
            config_complain(config, message, "/working_directory");
            return;
        }
}

static void state_checks_list(const struct environment *environment, const char *key,
                              char *const *places, const char *state, struct config *config)
{
    for (; places && *places; places++) {
        AUTO_FREE char *message = memory_format("%s is on the way to the server's own state (%s), "
                                                "which scripts never get",
                                                *places, state);

        if (state_checks_meet(state, *places))
            config_complain(config, message, "/environments/%s/%s", environment->name, key);
    }
}

static void state_checks_environment(const struct environment *environment, const char *state,
                                     struct config *config)
{
    char **written = environment->ops->writes ? environment->ops->writes(environment) : NULL;

    state_checks_list(environment, "write", environment->settings.sandbox.write, state, config);
    state_checks_list(environment, "volumes", written, state, config);
    memory_free_strings(written);
}

void state_checks(const struct catalog *catalog, struct config *config)
{
    const char *directory = catalog_settings(catalog)->directory;
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *state = state_directory_find(&ignored);

    if (!state)
        return;
    if (directory && state_checks_meet(state, directory))
        state_checks_directory(catalog, state, directory, config);
    for (size_t i = 0; i < catalog_count(catalog); i++)
        state_checks_environment(catalog_at(catalog, i), state, config);
}
