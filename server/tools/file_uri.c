#include "server/tools/file_uri.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/visible.h"
#include "server/tools/uri_template.h"

#include <ctype.h>
#include <string.h>

static const char HEXADECIMAL[] = "0123456789ABCDEF";

/* TEXT, encoded except for the unreserved characters of RFC 3986 and the characters of ALSO. Owned
 * by the caller. */
static char *file_uri_encode(const char *text, const char *also)
{
    char *encoded = memory_new(3 * strlen(text) + 1, 1);
    char *end = encoded;

    for (const char *byte = text; *byte; byte++) {
        if ((unsigned char)*byte < 128 &&
            (isalnum(*byte) || strchr("-._~", *byte) || strchr(also, *byte))) {
            *end++ = *byte;
        } else {
            *end++ = '%';
            *end++ = HEXADECIMAL[(unsigned char)*byte >> 4];
            *end++ = HEXADECIMAL[(unsigned char)*byte & 15];
        }
    }
    return encoded;
}

char *file_uri(const char *handle, const char *path)
{
    AUTO_FREE char *authority = file_uri_encode(handle, "");
    AUTO_FREE char *rest = file_uri_encode(path, "/");

    return memory_format("pyexecd://%s/%s", authority, rest);
}

char *file_uri_name(const char *path)
{
    const size_t length = strlen(path);

    return visible_line(path, length, length);
}

json_t *file_uri_read(const char *uri)
{
    return uri_template_match(FILE_URI_TEMPLATE, uri);
}
