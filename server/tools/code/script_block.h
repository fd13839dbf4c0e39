/* The block in which a script says what it needs (PEP 723):
 *
 *     # /// script
 *     # requires-python = ">=3.11"
 *     # dependencies = ["requests<3", "rich"]
 *     # ///
 *
 * Only comments are one: a program may have a string with the text of another program. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

/* The environment that the block in CODE asks for, as a definition of type venv: *RET is a new
 * reference, or NULL where there is no block or it asks for nothing. -1 with
 * ERROR_INVALID_ARGUMENTS when the block cannot be read. */
int script_block_read(const char *code, size_t length, json_t **ret, struct error *err);
