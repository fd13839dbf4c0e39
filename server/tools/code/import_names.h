/* The modules that Python code says it imports. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Their names, an array of strings, each once: of `from a import b` both "a" and "a.b", which is a
 * module or is none. What is relative is left out. Code with more of them than can be of use has
 * them in part. New reference. */
json_t *import_names_read(const char *code, size_t length);
