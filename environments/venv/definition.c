#include "environments/venv/definition.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/venv/parent.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_DIGITS = 32 };

struct venv_definition venv_definition_read(const json_t *definition)
{
    return (struct venv_definition){
        .venv_path = json_object_get_string(definition, "venv_path"),
        .python_path = json_object_get_string(definition, "python_path"),
        .python_version = json_object_get_string(definition, "python_version"),
        .system_site_packages = json_is_true(json_object_get(definition, "system_site_packages")),
        .extends = json_object_get(definition, "extends") != NULL,
        .packages = packages_definition_read(definition),
    };
}

/* Invalid packages are reported before they are needed. */
int venv_definition_check(const struct venv_definition *definition, const char **ret_key,
                          struct error *err)
{
    struct requirements requirements = {0};
    int ret = requirements_add_packages(&requirements, definition->packages.pip_packages, err);

    if (ret == 0)
        ret = requirements_check_hashes(&requirements, err);
    if (ret < 0)
        *ret_key = "pip_packages";
    requirements_deinit(&requirements);
    return ret;
}

char *venv_definition_path(const struct venv_definition *definition)
{
    char *path = definition->venv_path ? memory_copy_string(definition->venv_path) : NULL;
    size_t length = path ? strlen(path) : 0;

    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    return path;
}

static void digest_packages(struct venv_packages *packages,
                            const struct packages_definition *definition)
{
    AUTO_FREE char *text = requirements_text(&packages->requirements);
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, text);
    digest_add_string(&digest, definition->pip_index_url);
    digest_add_string(&digest, definition->pip_find_links);
    digest_add_string(&digest, definition->allow_source_builds ? "builds" : NULL);
    digest_finish(&digest, packages->digest);
}

int venv_packages_read(struct venv_packages *ret, const struct packages_definition *definition,
                       struct error *err)
{
    const char *file = definition->requirements_file;

    *ret = (struct venv_packages){0};
    if (file)
        file_identity_read(&ret->file, file); /* before: a change meanwhile is found later */
    if (packages_definition_collect(definition, &ret->requirements, err) < 0) {
        venv_packages_deinit(ret);
        return -1;
    }
    if (ret->requirements.count > 0)
        digest_packages(ret, definition);
    return 0;
}

void venv_packages_deinit(struct venv_packages *packages)
{
    requirements_deinit(&packages->requirements);
    *packages = (struct venv_packages){0};
}

bool venv_packages_are_current(const struct venv_packages *packages,
                               const struct packages_definition *definition)
{
    return !definition->requirements_file ||
           file_identity_holds(&packages->file, definition->requirements_file);
}

/* Scripts see packages of the Python at a path, too. It may be made anew, and show others. */
static void digest_shown(struct digest *digest, const struct venv_definition *definition)
{
    const char *python = definition->system_site_packages ? definition->python_path : NULL;
    AUTO_FREE char *real = python ? realpath(python, NULL) : NULL;
    AUTO_FREE char *parent = python ? venv_parent_find(python) : NULL;

    digest_add_string(digest, real);
    digest_add_string(digest, parent);
    digest_add_string(digest, parent && venv_parent_shows_base(parent) ? "base" : NULL);
}

char *venv_definition_key(const struct venv_definition *definition,
                          const struct venv_packages *packages)
{
    AUTO_FREE char *path = venv_definition_path(definition);
    char text[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, path);
    digest_add_string(&digest, definition->python_path);
    digest_add_string(&digest, definition->python_path ? NULL : definition->python_version);
    digest_add_string(&digest, definition->system_site_packages ? "system" : NULL);
    digest_add_string(&digest, path ? NULL : packages->digest);
    digest_shown(&digest, definition);
    if (definition->extends) /* it is removed earlier than a venv of the configuration */
        digest_add_string(&digest, "extends");
    digest_finish(&digest, text);
    return memory_format("%.*s", KEY_DIGITS, text);
}
