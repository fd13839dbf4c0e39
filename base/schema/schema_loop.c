/* A schema that refers to itself for the same value would never end. A schema that refers to itself
 * for an item or a member ends with the value. */
#include "base/schema/schema_node.h"

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
