/* Evaluating a schema, and the keywords that apply other schemas to the same value. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"

enum { PARTS_PER_STEP = 16 }; /* marked in about the time of one step */

static size_t part_count(const json_t *value)
{
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

/* Marks in PLACE the members and items that are marked in SEEN. */
static void schema_applicator_merge(struct schema_place *place, const unsigned char *seen)
{
    size_t count = place->seen ? part_count(place->value) : 0;

    for (size_t i = 0; i < count; i++)
        place->seen[i] |= seen[i];
}

/* Marks for the parts of PLACE, none set. Owned by the caller. */
static unsigned char *marks_new(struct schema_run *run, const struct schema_place *place)
{
    size_t count = part_count(place->value);

    (void)schema_spend(run, count / PARTS_PER_STEP); /* the evaluation that follows will see it */
    return memory_new(count, 1);
}

static bool check_rules(struct schema_run *run, const struct schema_node *node,
                        struct schema_place *place)
{
    bool fits = true;

    for (size_t i = 0; i < node->rule_count; i++) {
        const struct schema_rule *rule = &node->rules[i];

        if (rule->keyword->check && !rule->keyword->check(run, rule, place))
            fits = false;
        if (run->given_up || (!fits && !schema_listens(run)))
            return false;
    }
    return fits;
}

/* "unevaluated..." sees the members and items that its own schema has evaluated. The schemas around
 * it count for nothing. */
static bool check_rules_apart(struct schema_run *run, const struct schema_node *node,
                              struct schema_place *place)
{
    AUTO_FREE unsigned char *seen = marks_new(run, place);
    struct schema_place apart = *place;
    bool fits;

    apart.seen = seen;
    fits = check_rules(run, node, &apart);
    schema_applicator_merge(place, seen);
    return fits;
}

bool schema_evaluate(struct schema_run *run, const struct schema_node *node,
                     struct schema_place *place)
{
    bool fits;

    if (!schema_spend(run, 1))
        return false;
    if (json_is_false(node->source))
        return schema_problem_at_key(run, place, "is not allowed");
    if (run->depth == SCHEMA_DEPTH_LIMIT)
        return schema_give_up(run, "is nested too deeply to check");
    run->depth++;
    fits = node->sees ? check_rules_apart(run, node, place) : check_rules(run, node, place);
    run->depth--;
    return fits;
}

bool schema_fits(struct schema_run *run, const struct schema_node *node, struct schema_place *place)
{
    AUTO_FREE unsigned char *seen = place->seen ? marks_new(run, place) : NULL;
    struct schema_place apart = *place;
    bool fits;

    apart.seen = seen;
    run->silent++;
    fits = schema_evaluate(run, node, &apart);
    run->silent--;
    if (fits && seen)
        schema_applicator_merge(place, seen);
    return fits;
}

static bool check_reference(struct schema_run *run, const struct schema_rule *rule,
                            struct schema_place *place)
{
    return schema_evaluate(run, rule->members[0].node, place);
}

static bool check_all(struct schema_run *run, const struct schema_rule *rule,
                      struct schema_place *place)
{
    bool fits = true;

    for (size_t i = 0; i < rule->member_count; i++) {
        if (!schema_evaluate(run, rule->members[i].node, place))
            fits = false;
        if (!fits && !schema_listens(run))
            return false;
    }
    return fits;
}

/* All schemas are tried if it matters which items and members they evaluate. */
static bool check_any(struct schema_run *run, const struct schema_rule *rule,
                      struct schema_place *place)
{
    bool fits = false;

    for (size_t i = 0; i < rule->member_count && (!fits || place->seen); i++)
        if (schema_fits(run, rule->members[i].node, place))
            fits = true;
    return fits || schema_problem_with_forms(run, rule, place);
}

static bool check_one(struct schema_run *run, const struct schema_rule *rule,
                      struct schema_place *place)
{
    const struct schema_node *found = NULL;
    AUTO_FREE char *first = NULL;
    AUTO_FREE char *second = NULL;

    for (size_t i = 0; i < rule->member_count; i++) {
        const struct schema_node *node = rule->members[i].node;

        if (!schema_fits(run, node, place))
            continue;
        if (!found) {
            found = node;
            continue;
        }
        if (!schema_listens(run))
            return false;
        first = schema_describe(found);
        second = schema_describe(node);
        return schema_problem(run, place, "must be only one of %s and %s", first, second);
    }
    return found || schema_problem_with_forms(run, rule, place);
}

static bool check_not(struct schema_run *run, const struct schema_rule *rule,
                      struct schema_place *place)
{
    struct schema_place apart = *place;
    AUTO_FREE char *form = NULL;

    apart.seen = NULL;
    if (!schema_fits(run, rule->members[0].node, &apart))
        return true;
    if (!schema_listens(run))
        return false;
    form = schema_describe(rule->members[0].node);
    return schema_problem(run, place, "must not be %s", form);
}

static bool check_if(struct schema_run *run, const struct schema_rule *rule,
                     struct schema_place *place)
{
    bool fits = schema_fits(run, rule->members[0].node, place);
    const struct schema_rule *branch = schema_rule_find(rule->node, fits ? "then" : "else");

    return !branch || schema_evaluate(run, branch->members[0].node, place);
}

static bool check_dependent_schemas(struct schema_run *run, const struct schema_rule *rule,
                                    struct schema_place *place)
{
    bool fits = true;

    for (size_t i = 0; i < rule->member_count; i++) {
        if (!json_object_get(place->value, rule->members[i].name))
            continue;
        if (!schema_evaluate(run, rule->members[i].node, place))
            fits = false;
        if (!fits && !schema_listens(run))
            return false;
    }
    return fits;
}

const struct schema_keyword schema_applicators[] = {
    {"$ref", SCHEMA_SHAPE_REFERENCE, check_reference},
    {"allOf", SCHEMA_SHAPE_SCHEMAS, check_all},
    {"anyOf", SCHEMA_SHAPE_SCHEMAS, check_any},
    {"oneOf", SCHEMA_SHAPE_SCHEMAS, check_one},
    {"not", SCHEMA_SHAPE_SCHEMA, check_not},
    {"if", SCHEMA_SHAPE_SCHEMA, check_if},
    {"then", SCHEMA_SHAPE_SCHEMA, NULL},
    {"else", SCHEMA_SHAPE_SCHEMA, NULL},
    {"dependentSchemas", SCHEMA_SHAPE_SCHEMAS_BY_NAME, check_dependent_schemas},
    {NULL},
};
