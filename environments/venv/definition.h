/* A definition of type "venv" (schemas/environment.venv.json), and its packages. */
#pragma once

#include "base/digest.h"
#include "base/error.h"
#include "environments/interpreter/file_identity.h"
#include "environments/packages/packages_definition.h"

#include <jansson.h>
#include <stdbool.h>

/* Members are called like their keys. They are borrowed from the JSON; NULL where that has no such
 * key. */
struct venv_definition {
    const char *venv_path;
    const char *python_path;
    const char *python_version;
    bool system_site_packages;
    bool extends; /* packages of a call are added to another environment */
    struct packages_definition packages;
};

struct venv_definition venv_definition_read(const json_t *definition);

/* -1 with ERR when it fits its schema and is invalid all the same; *RET_KEY is the key to blame. */
int venv_definition_check(const struct venv_definition *definition, const char **ret_key,
                          struct error *err);

/* The venv_path without a slash at its end, owned by the caller; or NULL. */
char *venv_definition_path(const struct venv_definition *definition);

/* The packages as they are now: the file may have changed. */
struct venv_packages {
    struct requirements requirements;
    char digest[DIGEST_TEXT_BYTES]; /* of packages and their sources; "" without packages */
    struct file_identity file;      /* the requirements file, as it was read */
};

int venv_packages_read(struct venv_packages *ret, const struct packages_definition *definition,
                       struct error *err);
void venv_packages_deinit(struct venv_packages *packages);

/* True while the requirements file is unchanged since it was read, or if there is none. */
bool venv_packages_are_current(const struct venv_packages *packages,
                               const struct packages_definition *definition);

/* The name under which a venv with these packages is found again. Owned by the caller. */
char *venv_definition_key(const struct venv_definition *definition,
                          const struct venv_packages *packages);
