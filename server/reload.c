#include "server/reload.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/config.h"

#include <stdbool.h>
#include <string.h>

/* What service_reload() takes over, and the tool above it. */
static const char *const changeable[] = {
    "approval", "callers", "default_environment", "environments",
    "keep_for", "limits",  "max_timeout",         "timeout",
};

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

static bool is_changeable(const char *key)
{
    for (size_t i = 0; i < sizeof changeable / sizeof *changeable; i++)
        if (strcmp(changeable[i], key) == 0)
            return true;
    return false;
}

static bool is_same(const json_t *started, const struct config *config, const char *key)
{
    const json_t *now = json_object_get(config_tree(config), key);
    const json_t *before = json_object_get(started, key);

    return now == before || json_equal(now, before);
}

bool reload_has_tokens(const json_t *started, const struct config *config)
{
    return is_same(started, config, "token_file");
}

void reload_warn(const json_t *started, const struct config *config)
{
    const char *path = config_path(config) ? config_path(config) : "the configuration";
    AUTO_JSON json_t *all = json_copy((json_t *)started);
    const char *key;
    json_t *value;

    json_object_update(all, (json_t *)config_tree(config));
    json_object_foreach (all, key, value) {
        if (!is_changeable(key) && !is_same(started, config, key))
            log_warning("%s: %s: changed, which counts when the server is started again", path,
                        key);
    }
}
