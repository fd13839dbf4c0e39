#include "server/tools/file_links.h"

#include "base/json.h"
#include "server/tools/file_uri.h"
#include "server/tools/invocation.h"

#include <string.h>

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
