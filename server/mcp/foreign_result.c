#include "server/mcp/foreign_result.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>

static bool foreign_has(const json_t *object, const char *name)
{
    return json_is_string(json_object_get(object, name));
}

/* NAME is no string, though it is there. */
static bool foreign_spoils(const json_t *object, const char *name)
{
    return json_object_get(object, name) && !foreign_has(object, name);
}

static bool foreign_text_is_right(const json_t *block)
{
    return foreign_has(block, "text");
}

static bool foreign_media_are_right(const json_t *block)
{
    return foreign_has(block, "data") && !foreign_spoils(block, "mimeType");
}

static bool foreign_resource_is_right(const json_t *block)
{
    const json_t *resource = json_object_get(block, "resource");

    return (foreign_has(resource, "text") || foreign_has(resource, "blob")) &&
           !foreign_spoils(resource, "text") && !foreign_spoils(resource, "blob") &&
           !foreign_spoils(resource, "uri") && !foreign_spoils(resource, "mimeType");
}

static bool foreign_link_is_right(const json_t *block)
{
    return foreign_has(block, "uri") && !foreign_spoils(block, "mimeType");
}

static bool foreign_block_is_right(const json_t *block)
{
    static const struct {
        const char *type;
        bool (*is_right)(const json_t *block);
    } TYPES[] = {
        {"text", foreign_text_is_right},          {"image", foreign_media_are_right},
        {"audio", foreign_media_are_right},       {"resource", foreign_resource_is_right},
        {"resource_link", foreign_link_is_right},
    };
    const char *type = json_object_get_string(block, "type");

    if (!type)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++)
        if (strcmp(TYPES[i].type, type) == 0)
            return TYPES[i].is_right(block);
    return true;
}

bool foreign_result_is_right(const json_t *result)
{
    const json_t *content = json_object_get(result, "content");
    const json_t *block;
    size_t i;

    if (!json_is_object(result) || (content && !json_is_array(content)))
        return false;
    json_array_foreach (content, i, block)
        if (!foreign_block_is_right(block))
            return false;
    return true;
}
