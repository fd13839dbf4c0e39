/* Questions about strings. */
#pragma once

#include <stdbool.h>
#include <string.h>

/* TEXT, or "" for NULL. */
static inline const char *text_or_none(const char *text)
{
    return text ? text : "";
}

static inline bool text_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* True for "." and "..", which every directory has. */
static inline bool text_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}
