/* From the regular expressions of ECMA-262 (with its "u" flag) to those of PCRE2.
 *
 * The two give different meanings to the same text. Syntax that only PCRE2 has (\A, (?i),
 * possessive repeats) is refused; syntax with another meaning in PCRE2 (".", "\s", "\v", "[" in a
 * class, "\p{Letter}") is rewritten; the rest is passed to PCRE2 unchanged. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>

/* Appends the translation of TEXT to OUTPUT; ERROR_CONFIG when it is not ECMA-262. */
int pattern_translate(const char *text, size_t length, struct buffer *output, struct error *err);
