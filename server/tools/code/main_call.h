/* The call of a program's `main` with an input, which stands behind the program: the numbers of the
 * program's lines stay as they are. The program prints as JSON what `main` returns, unless that is
 * None. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether CODE names a `main` at all. */
bool main_call_is_possible(const char *code, size_t length);

/* CODE and a call of its `main` with INPUT, which is JSON; *RET_LENGTH bytes and a NUL, owned by
 * the caller. */
char *main_call_append(const char *code, size_t length, const char *input, size_t input_length,
                       size_t *ret_length);
