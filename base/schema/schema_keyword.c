/* The keywords, and the search for rules by keyword. */
#include "base/schema/schema_node.h"

#include <stdlib.h>
#include <string.h>

/* Keywords that identify a schema or check nothing. */
static const struct schema_keyword schema_identities[] = {
    {"$schema", SCHEMA_SHAPE_DIALECT, NULL},
    {"$id", SCHEMA_SHAPE_IDENTIFIER, NULL},
    {"$anchor", SCHEMA_SHAPE_ANCHOR, NULL},
    {"$defs", SCHEMA_SHAPE_SCHEMAS_BY_NAME, NULL},
    {"$comment", SCHEMA_SHAPE_STRING, NULL},
    {"title", SCHEMA_SHAPE_STRING, NULL},
    {"description", SCHEMA_SHAPE_STRING, NULL},
    {"default", SCHEMA_SHAPE_ANY, NULL},
    {"examples", SCHEMA_SHAPE_ARRAY, NULL},
    {"deprecated", SCHEMA_SHAPE_BOOLEAN, NULL},
    {"readOnly", SCHEMA_SHAPE_BOOLEAN, NULL},
    {"writeOnly", SCHEMA_SHAPE_BOOLEAN, NULL},
    {"format", SCHEMA_SHAPE_STRING, NULL},
    {"contentEncoding", SCHEMA_SHAPE_STRING, NULL},
    {"contentMediaType", SCHEMA_SHAPE_STRING, NULL},
    {"contentSchema", SCHEMA_SHAPE_SCHEMA, NULL},
    {NULL},
};

const struct schema_keyword *const schema_keyword_tables[SCHEMA_KEYWORD_TABLES] = {
    schema_identities,
    schema_assertions,
    schema_applicators,
    schema_part_keywords,
};

const struct schema_keyword *schema_keyword_find(const char *name)
{
    for (size_t i = 0; i < SCHEMA_KEYWORD_TABLES; i++)
        for (const struct schema_keyword *keyword = schema_keyword_tables[i]; keyword->name;
             keyword++)
            if (strcmp(keyword->name, name) == 0)
                return keyword;
    return NULL;
}

const struct schema_rule *schema_rule_find(const struct schema_node *node, const char *name)
{
    for (size_t i = 0; i < node->rule_count; i++)
        if (strcmp(node->rules[i].keyword->name, name) == 0)
            return &node->rules[i];
    return NULL;
}

int schema_member_compare(const void *left, const void *right)
{
    return strcmp(((const struct schema_member *)left)->name,
                  ((const struct schema_member *)right)->name);
}

const struct schema_member *schema_rule_find_member(const struct schema_rule *rule,
                                                    const char *name)
{
    const struct schema_member wanted = {.name = name};

    if (rule->member_count == 0)
        return NULL;
    return bsearch(&wanted, rule->members, rule->member_count, sizeof wanted,
                   schema_member_compare);
}
