#include "server/tools/python/file_uri.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/visible.h"
#include "server/tools/invocation.h"
#include "server/tools/uri_template.h"

#include <ctype.h>
#include <string.h>

/* URIs */

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

/* The files of a run */

#define REPLACED "\xEF\xBF\xBD" /* U+FFFD stands for bytes that are not UTF-8 */

enum { LINKS_MOST = 20 }; /* as many files as the text names */

void file_links_name(const json_t *files, const char *handle)
{
    json_t *file;
    size_t i;

    json_array_foreach (files, i, file) {
        const char *path = json_object_get_string(file, "path");
        AUTO_FREE char *uri = NULL;

        if (!handle || strstr(path, REPLACED))
            continue;
        uri = file_uri(handle, path);
        json_object_set_new(file, "uri", json_string(uri));
    }
}

static json_t *file_links_link(const json_t *file)
{
    AUTO_FREE char *name = file_uri_name(json_object_get_string(file, "path"));

    return json_pack("{s:s, s:O, s:s, s:O*, s:O}", "type", "resource_link", //
                     "uri", json_object_get(file, "uri"),                   //
                     "name", name,                                          //
                     "mimeType", json_object_get(file, "mimeType"),         //
                     "size", json_object_get(file, "size"));
}

void file_links_add(struct invocation *invocation, const json_t *files)
{
    const json_t *file;
    size_t i;

    json_array_foreach (files, i, file) {
        if (i == LINKS_MOST || !invocation->client.knows_links)
            return;
        if (json_object_get(file, "uri"))
            json_array_append_new(invocation->result.content, file_links_link(file));
    }
}
