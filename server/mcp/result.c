#include "server/mcp/result.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/mcp/params.h"
#include "server/mcp/server.h"

#include <string.h>

const struct result_caching result_caching_list = {.milliseconds = 300000};
const struct result_caching result_caching_own_list = {.milliseconds = 300000, .is_private = true};
const struct result_caching result_caching_contents = {.milliseconds = 0, .is_private = true};

void result_drop_newer(json_t *object, const struct result_member *members, size_t count,
                       enum mcp_version version)
{
    for (size_t i = 0; i < count; i++) {
        if (version < members[i].first)
            json_object_del(object, members[i].name);
    }
}

json_t *result_server_info(const struct mcp_server *server, enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {
        {"title", MCP_2025_06_18},
        {"description", MCP_2025_11_25},
        {"websiteUrl", MCP_2025_11_25},
        {"icons", MCP_2025_11_25},
    };
    json_t *info =
        json_pack("{s:s, s:s*, s:s, s:s*, s:s*, s:O*}", "name", server->name, "title",
                  server->title, "version", server->version, "description", server->description,
                  "websiteUrl", server->website_url, "icons", server->icons);

    result_drop_newer(info, MEMBERS, ARRAY_SIZE(MEMBERS), version);
    return info;
}

/* Annotations differ between revisions in one member only. */
void result_drop_newer_annotations(json_t *object, enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {{"lastModified", MCP_2025_06_18}};
    json_t *annotations = json_object_get(object, "annotations");

    if (!annotations || version >= MCP_2025_06_18)
        return;
    annotations = json_copy(annotations);
    result_drop_newer(annotations, MEMBERS, ARRAY_SIZE(MEMBERS), version);
    json_object_set_new(object, "annotations", annotations);
}

/* The contents of one resource. New reference. */
static json_t *contents_item(json_t *item, enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {{"_meta", MCP_2025_06_18}};
    json_t *known = json_copy(item);

    result_drop_newer(known, MEMBERS, ARRAY_SIZE(MEMBERS), version);
    return known;
}

/* BLOCK in the form of VERSION, or NULL where VERSION has no such block. */
static json_t *known_block(json_t *block, enum mcp_version version)
{
    static const struct result_member TYPES[] = {
        {"text", MCP_2024_11_05},  {"image", MCP_2024_11_05},         {"resource", MCP_2024_11_05},
        {"audio", MCP_2025_03_26}, {"resource_link", MCP_2025_06_18},
    };
    static const struct result_member MEMBERS[] = {{"_meta", MCP_2025_06_18},
                                                   {"icons", MCP_2025_11_25}};
    const char *type = json_object_get_string(block, "type");

    for (size_t i = 0; type && i < ARRAY_SIZE(TYPES); i++) {
        if (strcmp(TYPES[i].name, type) == 0 && version >= TYPES[i].first) {
            json_t *known = json_copy(block);

            result_drop_newer(known, MEMBERS, ARRAY_SIZE(MEMBERS), version);
            return known;
        }
    }
    return NULL;
}

static json_t *text_instead(const json_t *block)
{
    const char *type = json_object_get_string(block, "type");
    const char *uri = json_object_get_string(block, "uri");
    const char *mime_type = json_object_get_string(block, "mimeType");

    return json_pack("{s:s, s:o}", "type", "text", "text",
                     uri ? json_string(uri)
                         : json_string_format("[%s%s%s, which this protocol revision cannot carry]",
                                              type ? type : "block", mime_type ? " " : "",
                                              text_or_none(mime_type)));
}

static json_t *content_block(json_t *block, enum mcp_version version)
{
    json_t *known = known_block(block, version);
    json_t *resource = json_object_get(known, "resource");

    if (!known)
        known = text_instead(block);
    if (resource)
        json_object_set_new(known, "resource", contents_item(resource, version));
    result_drop_newer_annotations(known, version);
    return known;
}

/* A prompt's message holds one block. */
static json_t *result_message(json_t *newest, enum mcp_version version)
{
    json_t *known = json_copy(newest);

    json_object_set_new(known, "content",
                        content_block(json_object_get(newest, "content"), version));
    return known;
}

/* The elements of ARRAY, each translated by TRANSLATE. */
static json_t *translate_all(const json_t *array, enum mcp_version version,
                             json_t *(*translate)(json_t *element, enum mcp_version version))
{
    json_t *translated = json_array();
    json_t *element;
    size_t i;

    json_array_foreach (array, i, element) {
        json_array_append_new(translated, translate(element, version));
    }
    return translated;
}

json_t *result_content(const json_t *content, enum mcp_version version)
{
    return translate_all(content, version, content_block);
}

json_t *result_messages(const json_t *messages, enum mcp_version version)
{
    return translate_all(messages, version, result_message);
}

json_t *result_contents(const json_t *contents, enum mcp_version version)
{
    return translate_all(contents, version, contents_item);
}

void result_add_meta(json_t *result, json_t *meta)
{
    json_t *all = json_object_get(result, "_meta");
    json_t *both = all ? json_copy(all) : json_object();

    json_object_update(both, meta);
    json_object_set_new(result, "_meta", both);
    json_decref(meta);
}

json_t *result_finish_as(const struct mcp_server *server, enum mcp_version version, json_t *result,
                         const char *type)
{
    if (!mcp_version_is_modern(version))
        return result;
    json_object_set_new(result, "resultType", json_string(type));
    result_add_meta(result,
                    json_pack("{s:o}", MCP_META_SERVER_INFO, result_server_info(server, version)));
    return result;
}

json_t *result_finish(const struct mcp_server *server, enum mcp_version version, json_t *result)
{
    return result_finish_as(server, version, result, "complete");
}

json_t *result_finish_cacheable(const struct mcp_server *server, enum mcp_version version,
                                json_t *result, const struct result_caching *caching)
{
    if (mcp_version_is_modern(version)) {
        json_object_set_new(result, "ttlMs", json_integer(caching->milliseconds));
        json_object_set_new(result, "cacheScope",
                            json_string(caching->is_private ? "private" : "public"));
    }
    return result_finish(server, version, result);
}
