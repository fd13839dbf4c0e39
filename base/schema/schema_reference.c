/* Where a "$ref" leads. Schemas with "$id" are resources with a URI of their own, which other
 * references in the same document may use; "$anchor" names a place in one. Nothing is fetched. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Addresses */

/* The parts of a URI reference (RFC 3986, appendix B), each borrowed, with length. The fragment is
 * looked at elsewhere. */
struct uri {
    int scheme;    /* bytes up to and with ":", or 0 */
    int authority; /* bytes of "//host" behind it, or 0 */
    int path;
    int query; /* with "?" */
};

static struct uri uri_split(const char *text)
{
    struct uri uri = {0};
    size_t word = strcspn(text, ":/?#");

    if (word > 0 && text[word] == ':')
        uri.scheme = (int)word + 1;
    text += uri.scheme;
    if (strncmp(text, "//", 2) == 0)
        uri.authority = 2 + (int)strcspn(text + 2, "/?#");
    text += uri.authority;
    uri.path = (int)strcspn(text, "?#");
    text += uri.path;
    uri.query = *text == '?' ? (int)strcspn(text, "#") : 0;
    return uri;
}

/* RFC 3986, 5.2.4, in place. */
static void remove_dot_segments(char *path)
{
    char *output = path;
    const char *input = path;

    while (*input) {
        size_t segment = 1 + strcspn(input + 1, "/");

        if (strncmp(input, "/..", segment) == 0 && segment == 3) {
            while (output > path && *--output != '/')
                ;
            if (!input[segment])
                *output++ = '/';
        } else if (strncmp(input, "/.", segment) == 0 && segment == 2) {
            if (!input[segment])
                *output++ = '/';
        } else {
            memmove(output, input, segment);
            output += segment;
        }
        input += segment;
    }
    *output = '\0';
}

/* The path of REFERENCE, which has a path but no authority, relative to the path of BASE. Owned by
 * the caller. */
static char *merge_paths(const char *base, const char *reference)
{
    struct uri from = uri_split(base);
    const char *path = base + from.scheme + from.authority;
    int folder = from.path;

    while (folder > 0 && path[folder - 1] != '/')
        folder--;
    if (*reference == '/')
        folder = 0;
    return memory_format("%.*s%s%.*s", folder, path,
                         folder == 0 && from.authority && *reference != '/' ? "/" : "",
                         uri_split(reference).path, reference);
}

/* The parts of REFERENCE resolved against BASE (RFC 3986, 5.2.2), each owned by the caller. */
static char *resolve_authority(const char *base, const char *reference)
{
    struct uri from = uri_split(base);
    struct uri to = uri_split(reference);

    if (to.scheme)
        return memory_format("%.*s", to.scheme + to.authority, reference);
    if (to.authority)
        return memory_format("%.*s%.*s", from.scheme, base, to.authority, reference);
    return memory_format("%.*s", from.scheme + from.authority, base);
}

static char *resolve_path(const char *base, const char *reference)
{
    struct uri from = uri_split(base);
    struct uri to = uri_split(reference);

    if (to.scheme || to.authority)
        return memory_format("%.*s", to.path, reference + to.scheme + to.authority);
    if (to.path == 0)
        return memory_format("%.*s", from.path, base + from.scheme + from.authority);
    return merge_paths(base, reference);
}

static char *resolve_query(const char *base, const char *reference)
{
    struct uri from = uri_split(base);
    struct uri to = uri_split(reference);
    int before = to.scheme + to.authority + to.path;

    if (before > 0 || to.query)
        return memory_format("%.*s", to.query, reference + before);
    return memory_format("%.*s", from.query, base + from.scheme + from.authority + from.path);
}

char *schema_uri_resolve(const char *base, const char *reference)
{
    AUTO_FREE char *authority = resolve_authority(base, reference);
    AUTO_FREE char *path = resolve_path(base, reference);
    AUTO_FREE char *query = resolve_query(base, reference);

    if (*path == '/')
        remove_dot_segments(path);
    return memory_format("%s%s%s", authority, path, query);
}

/* Links */

/* Nodes by pointer and by absolute URI; values are numbers of nodes. */
struct directory {
    json_t *by_pointer; /* owned */
    json_t *by_uri;     /* owned */
};

static struct schema_node *schema_reference_lookup(const struct schema *schema, const json_t *names,
                                                   const char *name)
{
    const json_t *number = json_object_get(names, name);

    return number ? schema->nodes[json_integer_value(number)] : NULL;
}

/* Enters schema NUMBER under URI; -1 when another has it. */
static int enter_uri(const struct schema *schema, struct directory *directory, const char *uri,
                     size_t number)
{
    if (schema_reference_lookup(schema, directory->by_uri, uri))
        return -1;
    return json_object_set_new_nocheck(directory->by_uri, uri, json_integer((json_int_t)number));
}

static int schema_reference_enter(const struct schema *schema, struct directory *directory,
                                  size_t number, struct error *err)
{
    const struct schema_node *node = schema->nodes[number];
    const char *anchor = json_object_get_string(node->source, "$anchor");
    AUTO_FREE char *uri = anchor ? memory_format("%s#%s", node->base, anchor) : NULL;

    if (json_object_set_new_nocheck(directory->by_pointer, node->pointer,
                                    json_integer((json_int_t)number)) < 0)
        return error_set(err, ERROR_CONFIG, "%s: out of memory", node->pointer);
    if (node->resource == node && enter_uri(schema, directory, node->base, number) < 0)
        return error_set(err, ERROR_CONFIG, "%s/$id: \"%.200s\" is given twice", node->pointer,
                         node->base);
    if (anchor && enter_uri(schema, directory, uri, number) < 0)
        return error_set(err, ERROR_CONFIG, "%s/$anchor: \"%.200s\" is given twice", node->pointer,
                         anchor);
    return 0;
}

static int enter_all(const struct schema *schema, struct directory *directory, struct error *err)
{
    for (size_t i = 0; i < schema->node_count; i++)
        if (schema_reference_enter(schema, directory, i, err) < 0)
            return -1;
    return 0;
}

/* TEXT without its %HH, in place. */
static void percent_decode(char *text)
{
    char *output = text;

    for (; *text; text++) {
        char digits[3] = "";
        long byte = 0;

        if (*text == '%' && isxdigit((unsigned char)text[1]) && isxdigit((unsigned char)text[2]))
            byte = strtol(memcpy(digits, text + 1, 2), NULL, 16);
        *output++ = byte ? (char)byte : *text;
        text += byte ? 2 : 0;
    }
    *output = '\0';
}

/* The node in RESOURCE, whose URI is given, that the FRAGMENT ("#...") names, or NULL. */
static struct schema_node *find_in_resource(const struct schema *schema,
                                            const struct directory *directory,
                                            struct schema_node *resource, const char *fragment)
{
    AUTO_FREE char *name = NULL;

    if (fragment[0] == '\0' || fragment[1] == '\0')
        return resource;
    if (fragment[1] == '/') {
        name = memory_format("%s%s", resource->pointer, fragment + 1);
        return schema_reference_lookup(schema, directory->by_pointer, name);
    }
    name = memory_format("%s%s", resource->base, fragment);
    return schema_reference_lookup(schema, directory->by_uri, name);
}

static int link_rule(const struct schema *schema, const struct directory *directory,
                     struct schema_rule *rule, struct error *err)
{
    const char *reference = json_string_value(rule->value);
    AUTO_FREE char *uri = schema_uri_resolve(rule->node->base, reference);
    AUTO_FREE char *fragment = memory_copy_string(reference + strcspn(reference, "#"));
    AUTO_FREE char *quoted = schema_quote(rule->value);
    struct schema_node *resource = schema_reference_lookup(schema, directory->by_uri, uri);
    struct schema_node *target = NULL;

    if (!resource)
        return error_set(err, ERROR_CONFIG, "%s/$ref: %s leads out of this document",
                         rule->node->pointer, quoted);
    percent_decode(fragment);
    target = find_in_resource(schema, directory, resource, fragment);
    if (!target)
        return error_set(err, ERROR_CONFIG, "%s/$ref: %s leads to no schema in this document",
                         rule->node->pointer, quoted);
    rule->members[0].node = target;
    return 0;
}

static int link_all(const struct schema *schema, const struct directory *directory,
                    struct error *err)
{
    for (size_t i = 0; i < schema->node_count; i++) {
        struct schema_node *node = schema->nodes[i];

        for (size_t j = 0; j < node->rule_count; j++)
            if (node->rules[j].keyword->shape == SCHEMA_SHAPE_REFERENCE &&
                link_rule(schema, directory, &node->rules[j], err) < 0)
                return -1;
    }
    return 0;
}

int schema_link(struct schema *schema, struct error *err)
{
    AUTO_JSON json_t *by_pointer = json_object();
    AUTO_JSON json_t *by_uri = json_object();
    struct directory directory = {by_pointer, by_uri};

    if (enter_all(schema, &directory, err) < 0)
        return -1;
    return link_all(schema, &directory, err);
}

/* Loops
 *
 * A schema that refers to itself for the same value would never end. A schema that refers to itself
 * for an item or a member ends with the value. */

static int schema_loop_visit(struct schema_node *node, size_t depth, struct error *err);

static bool is_applied_in_place(const struct schema_rule *rule)
{
    const struct schema_keyword *keyword = schema_applicators;

    while (keyword->name && keyword != rule->keyword)
        keyword++;
    return keyword->name;
}

static int visit_members(const struct schema_rule *rule, size_t depth, struct error *err)
{
    for (size_t i = 0; i < rule->member_count; i++)
        if (schema_loop_visit(rule->members[i].node, depth, err) < 0)
            return -1;
    return 0;
}

static int schema_loop_visit(struct schema_node *node, size_t depth, struct error *err)
{
    if (node->walk == SCHEMA_WALK_BEHIND)
        return 0;
    if (node->walk == SCHEMA_WALK_ON_PATH)
        return error_set(err, ERROR_CONFIG, "%s: refers to itself without end", node->pointer);
    if (depth == SCHEMA_DEPTH_LIMIT)
        return error_set(err, ERROR_CONFIG, "%s: is nested too deeply", node->pointer);
    node->walk = SCHEMA_WALK_ON_PATH;
    for (size_t i = 0; i < node->rule_count; i++)
        if (is_applied_in_place(&node->rules[i]) &&
            visit_members(&node->rules[i], depth + 1, err) < 0)
            return -1;
    node->walk = SCHEMA_WALK_BEHIND;
    return 0;
}

int schema_check_loops(struct schema *schema, struct error *err)
{
    for (size_t i = 0; i < schema->node_count; i++)
        if (schema_loop_visit(schema->nodes[i], 0, err) < 0)
            return -1;
    return 0;
}
