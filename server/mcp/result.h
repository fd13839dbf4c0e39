/* Translates results from the newest revision to the request's. */
#pragma once

#include "base/protocol/version.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_server;

/* A member that came with a revision. */
struct result_member {
    const char *name;
    enum mcp_version first;
};

/* Removes from OBJECT the members that VERSION does not know yet. */
void result_drop_newer(json_t *object, const struct result_member *members, size_t count,
                       enum mcp_version version);

/* The serverInfo of VERSION. New reference. */
json_t *result_server_info(const struct mcp_server *server, enum mcp_version version);

/* Removes from the `annotations` of OBJECT the members that VERSION does not know yet. */
void result_drop_newer_annotations(json_t *object, enum mcp_version version);

/* Content blocks, messages of a prompt, contents of resources at VERSION. A block that it does not
 * know becomes text. NULL is none. New reference. */
json_t *result_content(const json_t *content, enum mcp_version version);
json_t *result_messages(const json_t *messages, enum mcp_version version);
json_t *result_contents(const json_t *contents, enum mcp_version version);

/* Adds the members of META (taken) to the `_meta` of RESULT. */
void result_add_meta(json_t *result, json_t *meta);

/* Adds the members that every result at VERSION carries. Returns RESULT. */
json_t *result_finish(const struct mcp_server *server, enum mcp_version version, json_t *result);

/* The same for a result of another type than "complete". */
json_t *result_finish_as(const struct mcp_server *server, enum mcp_version version, json_t *result,
                         const char *type);

/* How long clients may keep a result, and whether others may see it. */
struct result_caching {
    json_int_t milliseconds;
    bool is_private;
};

extern const struct result_caching result_caching_list;     /* a list that all clients see */
extern const struct result_caching result_caching_own_list; /* a list that depends on its reader */
extern const struct result_caching result_caching_contents; /* contents that may change at any
                                                               time */

/* The same for a result that may be kept. */
json_t *result_finish_cacheable(const struct mcp_server *server, enum mcp_version version,
                                json_t *result, const struct result_caching *caching);
