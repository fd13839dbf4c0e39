/* The packages that an environment is asked to have: from its definition, and from a requirements
 * file, whose lines have to be packages too (see requirement.h), comments or blank. */
#pragma once

#include "base/error.h"
#include "environments/packages/requirement.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    REQUIREMENTS_FILE_BYTES = 1 << 20,
    REQUIREMENTS_MOST = 10000,
};

struct requirements {
    struct requirement *items; /* owned, as are their strings */
    size_t count;
};

void requirements_deinit(struct requirements *requirements);

/* Adds the packages in PACKAGES, an array of strings; NULL is empty. */
int requirements_add_packages(struct requirements *requirements, const json_t *packages,
                              struct error *err);

/* Adds the packages in TEXT, LENGTH bytes of a file; an error says which line. */
int requirements_add_text(struct requirements *requirements, const char *text, size_t length,
                          struct error *err);

/* Adds the packages in the file at PATH, a real path; errors name it. */
int requirements_add_file(struct requirements *requirements, const char *path, struct error *err);

/* Installers check hashes of all packages or of none: -1 when only some have one. */
int requirements_check_hashes(const struct requirements *requirements, struct error *err);
bool requirements_have_hashes(const struct requirements *requirements);

/* As a requirements file. Owned by the caller. */
char *requirements_text(const struct requirements *requirements);

/* "numpy, pandas and 3 more", for people. Owned by the caller. */
char *requirements_names(const struct requirements *requirements);
