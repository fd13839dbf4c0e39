#include "server/functions_file.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "base/utf8.h"
#include "environments/kinds/kinds.h"
#include "environments/packages/packages_definition.h"
#include "environments/system/system.h"
#include "server/tools/code/function_list.h"
#include "server/tools/code/script_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_FILE_BYTES = 256 * 1024 };

/* The operator's own links are followed. Owned by the caller. */
static char *functions_file_load(const char *path, struct error *err)
{
    AUTO_FREE char *real = realpath(path, NULL);
    AUTO_FREE char *text = NULL;
    size_t length = 0;

    if (!real) {
        error_set(err, ERROR_CONFIG, "%s: %s", path, strerror(errno));
        return NULL;
    }
    text = untrusted_read(AT_FDCWD, real, FUNCTIONS_FILE_BYTES, &length, err);
    if (!text)
        return NULL;
    if (strlen(text) != length || !utf8_is_valid(text, length)) {
        error_set(err, ERROR_CONFIG, "%s is not text in UTF-8", path);
        return NULL;
    }
    return STEAL_PTR(text);
}

/* WANTED is the definition that the block of the file asks for, or NULL. */
static int functions_file_check(const json_t *definition, const json_t *wanted, struct error *err)
{
    if (json_object_get(wanted, "python_version"))
        return error_set(err, ERROR_CONFIG,
                         "its requires-python is not read; remove it, and give a venv's "
                         "python_version");
    if (wanted && environment_kinds_find(definition) == &system_kind)
        return error_set(err, ERROR_CONFIG,
                         "it asks for packages, and an environment of type system installs none; "
                         "use a venv");
    return 0;
}

/* DEFINITION with the packages of WANTED. New reference. */
static json_t *functions_file_extend(const json_t *definition, const json_t *wanted)
{
    json_t *extended = json_copy((json_t *)definition);
    const json_t *own = packages_definition_read(definition).pip_packages;
    json_t *packages = own ? json_copy((json_t *)own) : json_array();

    json_array_extend(packages, json_object_get(wanted, "pip_packages"));
    json_object_set_new(extended, "pip_packages", packages);
    return extended;
}

json_t *functions_file_read(const json_t *definition, char **ret, struct error *err)
{
    const char *path = json_object_get_string(definition, "functions");
    AUTO_FREE char *text = path ? functions_file_load(path, err) : NULL;
    AUTO_FREE char *list = text ? function_list(text, strlen(text)) : NULL;
    AUTO_JSON json_t *wanted = NULL;

    *ret = NULL;
    if (!path)
        return json_incref((json_t *)definition);
    if (!text || script_block_read(text, strlen(text), &wanted, err) < 0 ||
        functions_file_check(definition, wanted, err) < 0)
        return NULL;
    if (!*list) {
        error_set(err, ERROR_CONFIG, "%s defines no functions", path);
        return NULL;
    }
    *ret = STEAL_PTR(text);
    return wanted ? functions_file_extend(definition, wanted) : json_incref((json_t *)definition);
}
