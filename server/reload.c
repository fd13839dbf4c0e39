#include "server/reload.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/environment_settings.h"
#include "server/configuration/config.h"

#include <stdbool.h>
#include <string.h>

/* Taken over by service_reload() and by the tools, as settings of environments are. */
static const char *const changeable[] = {
    "callers",      "code_blocks", "default_environment",
    "environments", "keep_for",    "results",
    "run_many",     "sessions",    "share_directory_across_isolation",
    "tools",
};

/* Sections whose files are read again. */
static const char *const renewable[] = {"tls", "token_file"};

/* Members of `limits` that are read only at the start. */
static const char *const fixed_limits[] = {"connections", "connections_per_client"};

struct config *reload_read(const struct config *current)
{
    const char *known = config_path(current);
    AUTO_FREE char *path = known ? memory_copy_string(known) : config_find();
    struct config *config = config_load(path);

    if (!config_has_errors(config))
        return config;
    reload_refuse(config);
    config_free(config);
    return NULL;
}

void reload_refuse(const struct config *config)
{
    AUTO_FREE char *text = config_error_text(config);
    char *rest = text;

    log_error("the configuration stays as it was: the file has errors");
    while (rest && *rest)
        log_error("%s", strsep(&rest, "\n"));
}

static bool reload_is_among(const char *const *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool reload_is_same(const json_t *before, const json_t *now, const char *key)
{
    const json_t *one = json_object_get(before, key);
    const json_t *other = json_object_get(now, key);

    return one == other || json_equal(one, other);
}

bool reload_keeps(const json_t *started, const struct config *config, const char *key)
{
    return !json_object_get(started, key) == !json_object_get(config_tree(config), key);
}

/* True if KEY has not changed, or its change takes effect now. */
static bool is_settled(const json_t *started, const struct config *config, const char *key)
{
    if (reload_is_among(renewable, ARRAY_SIZE(renewable), key))
        return reload_keeps(started, config, key);
    return environment_settings_have(key) ||
           reload_is_among(changeable, ARRAY_SIZE(changeable), key) ||
           reload_is_same(started, config_tree(config), key);
}

static void reload_warn_of(const struct config *config, const char *section, const char *key)
{
    const char *path = config_path(config) ? config_path(config) : "the configuration";

    log_warning("%s: %s%s: changed, which counts when the server is started again", path, section,
                key);
}

void reload_warn(const json_t *started, const struct config *config)
{
    const json_t *tree = config_tree(config);
    AUTO_JSON json_t *all = json_copy((json_t *)started);
    const char *key;
    json_t *value;

    json_object_update(all, (json_t *)tree);
    json_object_foreach (all, key, value) {
        if (!is_settled(started, config, key))
            reload_warn_of(config, "", key);
    }
    for (size_t i = 0; i < ARRAY_SIZE(fixed_limits); i++)
        if (!reload_is_same(json_object_get(started, "limits"), json_object_get(tree, "limits"),
                            fixed_limits[i]))
            reload_warn_of(config, "limits.", fixed_limits[i]);
}
