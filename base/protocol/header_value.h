/* Values of HTTP header fields that stand for values in the body (2026-07-28). A value that is no
 * plain text comes as =?base64?...?=, in UTF-8. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* TEXT of LENGTH bytes and a NUL as a value: as it is, or in base64. Owned by the caller. */
char *header_value_encode(const char *text, size_t length);

/* Decodes VALUE to LENGTH bytes and a NUL; owned by the caller. NULL when it is marked as base64
 * and is invalid. */
char *header_value_decode(const char *value, size_t *ret_length);

/* True when the field's VALUE says the same as EXPECTED, a string, number or boolean. */
bool header_value_is(const char *value, const json_t *expected);
