/* Helpers for jansson, in its own words: new, borrowed, steals. */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

#define AUTO_JSON AUTO(json_decrefp)

/* Makes jansson end the program when there is no memory, as memory.h does: it goes on without, and
 * reads through NULL. Before anything else of jansson. */
void json_require_memory(void);

/* A string of LENGTH bytes that may be ill-formed UTF-8, repaired. New reference. */
json_t *json_string_repaired(const char *bytes, size_t length);

/* A string from printf; repaired where it is ill-formed. New reference. */
json_t *json_string_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "object", "array", "string", "integer", "number", "boolean" or "null": JSON Schema's words. */
const char *json_type_name(const json_t *value);

/* The value in compact JSON on one line; newlines, U+2028 and U+2029 inside strings are escaped or
 * harmless. Owned by the caller, never NULL. */
char *json_text(const json_t *value);

/* The same, between the texts BEFORE and AFTER. */
char *json_text_within(const char *before, const json_t *value, const char *after);

/* Bytes that TEXT, repaired where it is ill-formed, takes inside a JSON string. */
size_t json_escaped_length(const char *text, size_t length);

/* The longest part at the start of TEXT that takes at most BUDGET bytes inside a JSON string. Never
 * cut inside a character. */
size_t json_escaped_prefix(const char *text, size_t length, size_t budget);

/* The string member KEY of OBJECT, or NULL when it is absent or not a string. Borrowed. */
const char *json_object_get_string(const json_t *object, const char *key);

/* A copy of it, owned by the caller, or NULL. */
char *json_object_copy_string(const json_t *object, const char *key);

/* The number member KEY of OBJECT, or OTHERWISE when it is absent or not a number. */
double json_object_get_number(const json_t *object, const char *key, double otherwise);

/* An array of STRINGS, which end with NULL; NULL stands for none. New reference. */
json_t *json_strings(const char *const *strings);

/* "a, b" of an array of strings. Owned by the caller. */
char *json_list(const json_t *strings);

/* The JSON Pointer (RFC 6901) of the member NAME of the object at POINTER. Owned by the caller. */
char *json_pointer_append(const char *pointer, const char *name);

/* A JSON Pointer as people write it: "/environments/a~1b/timeout" is "environments.a/b.timeout".
 * Owned by the caller. */
char *json_pointer_dotted(const char *pointer);
