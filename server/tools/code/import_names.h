/* The modules that Python code says it imports. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Their names, an array of strings, each once: of `from a import b` both "a" and "a.b", which may
 * be a module. Relative imports are left out. If there are more names than can be of use, some are
 * left out, too. New reference. */
json_t *import_names_read(const char *code, size_t length);
