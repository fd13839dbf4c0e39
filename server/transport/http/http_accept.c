#include "server/transport/http/http_accept.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* Bytes of the media type at the beginning of VALUE. */
static size_t measure_type(const char *value)
{
    return strcspn(value, BLANKS ",;");
}

bool http_type_is(const char *value, const char *type)
{
    size_t length = measure_type(value);
    const char *rest = value + length + strspn(value + length, BLANKS);

    return length == strlen(type) && strncasecmp(value, type, length) == 0 &&
           (*rest == '\0' || *rest == ';');
}

/* RANGE, of LENGTH bytes, is the type itself, all of its kind ("text/"), or all. */
static bool http_accept_includes(const char *range, size_t length, const char *type)
{
    size_t kind = strcspn(type, "/") + 1;

    if (length == strlen("*/*") && strncmp(range, "*/*", length) == 0)
        return true;
    if (length == kind + 1 && range[kind] == '*')
        return strncasecmp(range, type, kind) == 0;
    return length == strlen(type) && strncasecmp(range, type, length) == 0;
}

bool http_accept_lists(const char *value, const char *type)
{
    if (!value)
        return true;
    while (value) {
        value += strspn(value, BLANKS ",");
        if (http_accept_includes(value, measure_type(value), type))
            return true;
        value = strchr(value, ',');
    }
    return false;
}
