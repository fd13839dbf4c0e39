/* The functions of a Python module, in words for a model. */
#pragma once

#include <stddef.h>

/* The functions that CODE defines for others, a line each: "slope(x: list, y: list) -> float: Of
 * the line through these points.", with the first line of its docstring. Few where there are many.
 * Owned by the caller; "" when there are none. */
char *function_list(const char *code, size_t length);
