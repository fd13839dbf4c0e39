/* The keywords that apply other schemas to the parts of a value: items of an array, members of an
 * object. Each marks the parts that it has evaluated; "unevaluated..." takes the rest. */
#include "base/json.h"
#include "base/schema/schema_node.h"
#include "base/spelling.h"

#include <stdint.h>
#include <string.h>

static void schema_parts_mark(struct schema_place *place, size_t part)
{
    if (place->seen)
        place->seen[part] = 1;
}

static bool check_item(struct schema_run *run, const struct schema_node *node,
                       struct schema_place *place, size_t index)
{
    struct schema_place item = {
        .value = json_array_get(place->value, index),
        .parent = place,
        .index = index,
    };

    schema_parts_mark(place, index);
    return schema_evaluate(run, node, &item);
}

static bool check_prefix(struct schema_run *run, const struct schema_rule *rule,
                         struct schema_place *place)
{
    bool fits = true;

    for (size_t i = 0; i < rule->member_count && i < json_array_size(place->value); i++) {
        if (!check_item(run, rule->members[i].node, place, i))
            fits = false;
        if (!fits && !schema_listens(run))
            return false;
    }
    return fits;
}

static bool check_items(struct schema_run *run, const struct schema_rule *rule,
                        struct schema_place *place)
{
    const struct schema_rule *prefix = schema_rule_find(rule->node, "prefixItems");
    size_t first = prefix ? prefix->member_count : 0;
    size_t count = json_array_size(place->value);
    bool fits = true;

    if (json_is_false(rule->value) && count > first)
        return schema_problem(run, place, "must have at most %zu item%s, not %zu", first,
                              first == 1 ? "" : "s", count);
    for (size_t i = first; i < count; i++) {
        if (!check_item(run, rule->members[0].node, place, i))
            fits = false;
        if (!fits && !schema_listens(run))
            return false;
    }
    return fits;
}

static double count_wanted(const struct schema_node *node, const char *keyword, double otherwise)
{
    const struct schema_rule *rule = schema_rule_find(node, keyword);

    return rule ? json_number_value(rule->value) : otherwise;
}

static bool check_contained(struct schema_run *run, const struct schema_rule *rule,
                            struct schema_place *place, double found)
{
    double least = count_wanted(rule->node, "minContains", 1);
    double most = count_wanted(rule->node, "maxContains", (double)SIZE_MAX);
    double bound = found < least ? least : most;
    AUTO_FREE char *form = NULL;

    if (found >= least && found <= most)
        return true;
    if (!schema_listens(run))
        return false;
    form = schema_describe(rule->members[0].node);
    return schema_problem(run, place, "must have at %s %.0f item%s fit for %s, not %.0f",
                          found < least ? "least" : "most", bound, bound == 1 ? "" : "s", form,
                          found);
}

static bool check_contains(struct schema_run *run, const struct schema_rule *rule,
                           struct schema_place *place)
{
    double found = 0;

    if (!json_is_array(place->value))
        return true;
    for (size_t i = 0; i < json_array_size(place->value); i++) {
        struct schema_place item = {
            .value = json_array_get(place->value, i),
            .parent = place,
            .index = i,
        };

        if (!schema_fits(run, rule->members[0].node, &item))
            continue;
        schema_parts_mark(place, i);
        found++;
    }
    return check_contained(run, rule, place, found);
}

/* A walk over the members of an object. */
struct schema_parts_walk {
    struct schema_run *run;
    struct schema_place *place;
    const struct schema_rule *rule;
    const char *key; /* of the member it has come to */
    size_t index;
};

/* The place of the member that WALK has come to. */
static struct schema_place member_of(const struct schema_parts_walk *walk)
{
    return (struct schema_place){
        .value = json_object_get(walk->place->value, walk->key),
        .parent = walk->place,
        .key = walk->key,
    };
}

static bool check_member(const struct schema_parts_walk *walk, const struct schema_node *node)
{
    struct schema_place member = member_of(walk);

    schema_parts_mark(walk->place, walk->index);
    return schema_evaluate(walk->run, node, &member);
}

/* Calls CHECK for each member until a further problem would not be reported. */
static bool schema_parts_check_members(struct schema_parts_walk *walk,
                                       bool (*check)(const struct schema_parts_walk *))
{
    json_t *value;
    bool fits = true;

    walk->index = 0;
    json_object_foreach ((json_t *)walk->place->value, walk->key, value) {
        fits = check(walk) && fits;
        if (!schema_spend(walk->run, 1) || (!fits && !schema_listens(walk->run)))
            return false;
        walk->index++;
    }
    return fits;
}

static bool check_property(const struct schema_parts_walk *walk)
{
    const struct schema_member *member = schema_rule_find_member(walk->rule, walk->key);

    return !member || check_member(walk, member->node);
}

static bool key_matches(const struct schema_parts_walk *walk, const struct schema_member *member)
{
    return schema_matches(walk->run, member->pattern, walk->key, strlen(walk->key));
}

static bool check_pattern_property(const struct schema_parts_walk *walk)
{
    bool fits = true;

    for (size_t i = 0; i < walk->rule->member_count; i++)
        if (key_matches(walk, &walk->rule->members[i]))
            fits = check_member(walk, walk->rule->members[i].node) && fits;
    return fits;
}

/* "properties" or "patternProperties" of the same schema speak of the member. */
static bool is_named(const struct schema_parts_walk *walk)
{
    const struct schema_rule *names = schema_rule_find(walk->rule->node, "properties");
    const struct schema_rule *patterns = schema_rule_find(walk->rule->node, "patternProperties");

    if (names && schema_rule_find_member(names, walk->key))
        return true;
    for (size_t i = 0; patterns && i < patterns->member_count; i++)
        if (key_matches(walk, &patterns->members[i]))
            return true;
    return false;
}

static void try_names(struct spelling *spelling, const struct schema_node *node)
{
    const struct schema_rule *names = schema_rule_find(node, "properties");

    for (size_t i = 0; names && i < names->member_count; i++)
        spelling_try(spelling, names->members[i].name);
}

static bool refuse_key(const struct schema_parts_walk *walk)
{
    struct schema_place member = member_of(walk);
    struct spelling spelling = SPELLING_INIT(walk->key);
    AUTO_FREE char *quoted = NULL;
    AUTO_FREE char *nearest = NULL;

    schema_parts_mark(walk->place, walk->index);
    if (!schema_listens(walk->run))
        return false;
    quoted = schema_quote_name(walk->key);
    try_names(&spelling, walk->rule->node);
    if (!spelling.nearest)
        return schema_problem_at_key(walk->run, &member, "unknown key %s", quoted);
    nearest = schema_quote_name(spelling.nearest);
    return schema_problem_at_key(walk->run, &member, "unknown key %s, did you mean %s?", quoted,
                                 nearest);
}

static bool check_rest(const struct schema_parts_walk *walk)
{
    if (json_is_false(walk->rule->value))
        return refuse_key(walk);
    return check_member(walk, walk->rule->members[0].node);
}

static bool check_additional_property(const struct schema_parts_walk *walk)
{
    return is_named(walk) || check_rest(walk);
}

static bool check_unevaluated_property(const struct schema_parts_walk *walk)
{
    return walk->place->seen[walk->index] || check_rest(walk);
}

static bool schema_parts_check_name(const struct schema_parts_walk *walk)
{
    AUTO_JSON json_t *name = json_string_nocheck(walk->key);
    struct schema_place place = {
        .value = name,
        .parent = walk->place,
        .key = walk->key,
        .is_key = true,
    };

    return name && schema_evaluate(walk->run, walk->rule->members[0].node, &place);
}

static bool check_properties(struct schema_run *run, const struct schema_rule *rule,
                             struct schema_place *place)
{
    return schema_parts_check_members(&(struct schema_parts_walk){run, place, rule, NULL, 0},
                                      check_property);
}

static bool check_pattern_properties(struct schema_run *run, const struct schema_rule *rule,
                                     struct schema_place *place)
{
    return schema_parts_check_members(&(struct schema_parts_walk){run, place, rule, NULL, 0},
                                      check_pattern_property);
}

static bool check_additional_properties(struct schema_run *run, const struct schema_rule *rule,
                                        struct schema_place *place)
{
    return schema_parts_check_members(&(struct schema_parts_walk){run, place, rule, NULL, 0},
                                      check_additional_property);
}

static bool check_property_names(struct schema_run *run, const struct schema_rule *rule,
                                 struct schema_place *place)
{
    return schema_parts_check_members(&(struct schema_parts_walk){run, place, rule, NULL, 0},
                                      schema_parts_check_name);
}

static bool check_unevaluated_properties(struct schema_run *run, const struct schema_rule *rule,
                                         struct schema_place *place)
{
    return schema_parts_check_members(&(struct schema_parts_walk){run, place, rule, NULL, 0},
                                      check_unevaluated_property);
}

static bool check_unevaluated_items(struct schema_run *run, const struct schema_rule *rule,
                                    struct schema_place *place)
{
    bool fits = true;

    for (size_t i = 0; i < json_array_size(place->value); i++) {
        if (!place->seen[i] && !check_item(run, rule->members[0].node, place, i))
            fits = false;
        if (!fits && !schema_listens(run))
            return false;
    }
    return fits;
}

/* "unevaluated..." must come last: it needs the marks of all other keywords. */
const struct schema_keyword schema_part_keywords[] = {
    {"prefixItems", SCHEMA_SHAPE_SCHEMAS, check_prefix},
    {"items", SCHEMA_SHAPE_SCHEMA, check_items},
    {"minContains", SCHEMA_SHAPE_COUNT, NULL},
    {"maxContains", SCHEMA_SHAPE_COUNT, NULL},
    {"contains", SCHEMA_SHAPE_SCHEMA, check_contains},
    {"properties", SCHEMA_SHAPE_SCHEMAS_BY_NAME, check_properties},
    {"patternProperties", SCHEMA_SHAPE_SCHEMAS_BY_PATTERN, check_pattern_properties},
    {"additionalProperties", SCHEMA_SHAPE_SCHEMA, check_additional_properties},
    {"propertyNames", SCHEMA_SHAPE_SCHEMA, check_property_names},
    {"unevaluatedItems", SCHEMA_SHAPE_SCHEMA, check_unevaluated_items},
    {"unevaluatedProperties", SCHEMA_SHAPE_SCHEMA, check_unevaluated_properties},
    {NULL},
};
