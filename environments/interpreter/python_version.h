/* Which versions of Python are wanted: "3.11" and its releases, or clauses as in PEP 440, such as
 * ">=3.9, <3.13", of which each has to hold. */
#pragma once

#include <stdbool.h>

/* True when TEXT, from a Python or an image, can be shown as a version: "3.14.0rc2+local". */
bool python_version_is_plain(const char *text);

/* True when the version ACTUAL fits WANTED: 3.11.2 fits "3.11" and ">=3.9", not "3.1". False if
 * WANTED has neither form. */
bool python_version_fits(const char *wanted, const char *actual);

/* "3.11" of "3.11.2". Owned by the caller. */
char *python_version_minor(const char *version);
