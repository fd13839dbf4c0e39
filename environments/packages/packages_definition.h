/* The keys about packages, which definitions of several types have (schemas/common.json). */
#pragma once

#include "base/error.h"
#include "environments/packages/requirements.h"

#include <jansson.h>
#include <stdbool.h>

/* Borrowed from the definition; NULL where it has no such key. */
struct packages_definition {
    const json_t *pip_packages; /* an array of strings */
    const char *requirements_file;
    const char *pip_index_url;
    const char *pip_find_links;
    bool allow_source_builds;
};

/* The keys of DEFINITION, of any type. */
struct packages_definition packages_definition_read(const json_t *definition);

/* Adds the packages of MORE that PACKAGES, likewise an array of strings, does not name in the same
 * words. */
void packages_definition_add(json_t *packages, const json_t *more);

/* True when there are packages to install. */
bool packages_definition_names_any(const struct packages_definition *definition);

/* Adds all packages to RET: the listed ones, and the present ones of the file. */
int packages_definition_collect(const struct packages_definition *definition,
                                struct requirements *ret, struct error *err);
