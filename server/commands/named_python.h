/* The Python that --python names: by its version, its path, its name on PATH, or the folder of a
 * virtual environment, such as .venv. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* True when NAMED is a version, such as 3.11 or >=3.10,<3.13. */
bool named_python_is_version(const char *named);

/* -1 with ERROR_USAGE if NAMED, which begins as a version, is none of Python 3. ASKER has named it.
 */
int named_python_check_version(const char *asker, const char *named, struct error *err);

/* The absolute path of NAMED, which is no version. Its last part may be a link: a virtual
 * environment has its packages by the place of its link. Owned by the caller; NULL with
 * ERROR_USAGE. */
char *named_python_find(const char *named, struct error *err);
