/* JSON values as JSON Schema sees them: a number is whole or not and has no other type, and members
 * have no order. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* True for 3 and for 3.0. */
bool schema_value_is_integer(const json_t *value);

/* Less than, equal to or more than zero as LEFT is to RIGHT; both are numbers. Exact also where a
 * double cannot hold the integer. */
int schema_value_compare(const json_t *left, const json_t *right);

/* VALUE / DIVISOR is a whole number, in the decimal notation both were written in: 0.3 is a
 * multiple of 0.1. DIVISOR is more than zero. */
bool schema_value_is_multiple(const json_t *value, const json_t *divisor);

/* Deep equality; 1 equals 1.0. *BUDGET is decremented for each pair compared; false at zero. */
bool schema_value_equal(const json_t *left, const json_t *right, size_t *budget);

/* Characters (code points) of a string, items of an array, members of an object. */
size_t schema_value_count(const json_t *value);
