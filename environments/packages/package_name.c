#include "environments/packages/package_name.h"

#include "base/ascii.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

static bool package_name_is_mark(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* The character as names are compared; '\0': it ends the name. */
static char package_name_fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    if (package_name_is_mark(c))
        return '-';
    return (c >= 'a' && c <= 'z') || ascii_is_digit(c) ? c : '\0';
}

char *package_name_normalize(const char *requirement)
{
    char *ret = memory_new(strlen(requirement) + 1, 1);
    size_t length = 0;

    for (const char *at = requirement; package_name_fold(*at); at++)
        if (!package_name_is_mark(*at) || length == 0 || ret[length - 1] != '-')
            ret[length++] = package_name_fold(*at);
    ret[length] = '\0';
    return ret;
}
