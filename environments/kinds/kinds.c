#include "environments/kinds/kinds.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/docker/docker.h"
#include "environments/system/system.h"
#include "environments/venv/venv.h"

#include <assert.h>
#include <string.h>

static const struct environment_kind *const environment_kinds[] = {
    &system_kind,
    &venv_kind,
    &docker_kind,
};

size_t environment_kinds_count(void)
{
    return ARRAY_SIZE(environment_kinds);
}

const struct environment_kind *environment_kinds_at(size_t index)
{
    return environment_kinds[index];
}

const struct environment_kind *environment_kinds_find(const json_t *definition)
{
    const char *type = json_object_get_string(definition, "type");

    for (size_t i = 0; type && i < ARRAY_SIZE(environment_kinds); i++)
        if (strcmp(environment_kinds[i]->name, type) == 0)
            return environment_kinds[i];
    return NULL;
}

enum isolation environment_kinds_isolation(const json_t *definition)
{
    const struct environment_kind *kind = environment_kinds_find(definition);

    assert(kind); /* the definition fits the schema */
    if (kind->isolation == ISOLATION_NONE && sandbox_settings_are_wanted(definition))
        return ISOLATION_SANDBOX;
    return kind->isolation;
}
