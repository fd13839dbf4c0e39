/* The part of a run's output that a model reads: both streams share a number of characters, and of
 * a stream that is longer than its share the beginning and the end are shown. Pure functions over
 * UTF-8. */
#pragma once

#include <stddef.h>

enum output_part {
    OUTPUT_OUT,
    OUTPUT_ERR,
    OUTPUT_PARTS,
};

/* The line in place of a part that is left out. */
#define OUTPUT_BUDGET_GAP "... [left out] ...\n"

size_t output_budget_count(const char *text, size_t length);

/* Divides TOTAL characters between streams that have CHARACTERS: each gets half, and the rest of
 * the other's half. */
void output_budget_share(size_t total, const size_t characters[OUTPUT_PARTS],
                         size_t ret_shares[OUTPUT_PARTS]);

/* TEXT, a stream of kind PART, cut to SHARE characters and the line for the gap. Lines are whole,
 * unless one is very long. Owned by the caller, with a NUL behind its *RET_LENGTH bytes; NULL: TEXT
 * fits as it is. */
char *output_budget_cut(enum output_part part, const char *text, size_t length, size_t share,
                        size_t *ret_length);
