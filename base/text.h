/* Questions about strings. */
#pragma once

#include <stdbool.h>

/* TEXT, or "" for NULL. */
const char *text_or_none(const char *text);

bool text_starts_with(const char *text, const char *prefix);

/* True for "." and "..", which every directory has. */
bool text_is_dots(const char *name);
