#include "base/text.h"

#include <string.h>

const char *text_or_none(const char *text)
{
    return text ? text : "";
}

bool text_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}
