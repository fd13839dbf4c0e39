/* UTF-8 (RFC 3629): programs print bytes, JSON carries text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed sequence at the start of TEXT (1 to 4), or 0 when there is none.
 * *RET_SKIP is then the length of the maximal ill-formed part that one U+FFFD stands for
 * (Unicode 15, section 3.9, "substitution of maximal subparts"). LENGTH must be > 0. */
size_t utf8_sequence(const char *text, size_t length, size_t *ret_skip);

bool utf8_is_valid(const char *text, size_t length);

/* A copy of TEXT with each maximal ill-formed part replaced by U+FFFD: *RET_LENGTH bytes and a NUL,
 * at most three times LENGTH. NUL bytes are kept. Owned by the caller. */
char *utf8_repair(const char *text, size_t length, size_t *ret_length);

/* Where to cut TEXT so that no sequence is split: the largest position <= LENGTH at a boundary. */
size_t utf8_boundary_before(const char *text, size_t length);
