/* The keywords that look at one value on its own. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"
#include "base/schema/schema_value.h"
#include "base/spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTED_VALUES = 20,
    BYTES_PER_STEP = 64, /* of a string, counted in about the time of one step */
};

static bool schema_assertion_is_type(const json_t *value, const char *type)
{
    if (strcmp(type, "integer") == 0)
        return schema_value_is_integer(value);
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    return strcmp(type, json_type_name(value)) == 0;
}

/* "string", "string or null", "object, array or null". Owned by the caller. */
static char *type_list(const json_t *types)
{
    char *text = memory_copy_string("");
    size_t count = json_array_size(types);

    for (size_t i = 0; i < count; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        char *longer =
            memory_format("%s%s%s", text, between, json_string_value(json_array_get(types, i)));

        free(text);
        text = longer;
    }
    return text;
}

/* Reports that PLACE does not fit the description of RULE's schema; false when there is no
 * description. A write-only value, such as a password, is not shown. */
static bool report_in_words(struct schema_run *run, const struct schema_rule *rule,
                            const struct schema_place *place)
{
    const char *words = json_object_get_string(rule->node->source, "x-wanted");
    AUTO_FREE char *got = NULL;

    if (!words)
        return false;
    if (json_is_true(json_object_get(rule->node->source, "writeOnly"))) {
        schema_problem(run, place, "must be %s", words);
        return true;
    }
    got = schema_quote(place->value);
    schema_problem(run, place, "must be %s, not %s", words, got);
    return true;
}

static bool check_type(struct schema_run *run, const struct schema_rule *rule,
                       struct schema_place *place)
{
    AUTO_FREE char *wanted = NULL;
    AUTO_FREE char *got = NULL;

    if (json_is_string(rule->value) &&
        schema_assertion_is_type(place->value, json_string_value(rule->value)))
        return true;
    for (size_t i = 0; i < json_array_size(rule->value); i++)
        if (schema_assertion_is_type(place->value,
                                     json_string_value(json_array_get(rule->value, i))))
            return true;
    if (!schema_listens(run) || report_in_words(run, rule, place))
        return false;
    wanted = json_is_string(rule->value) ? memory_copy_string(json_string_value(rule->value))
                                         : type_list(rule->value);
    got = json_is_real(place->value) && strstr(wanted, "integer")
              ? schema_quote(place->value)
              : memory_copy_string(json_type_name(place->value));
    return schema_problem(run, place, "must be %s, not %s", wanted, got);
}

static bool is_equal(struct schema_run *run, const json_t *left, const json_t *right)
{
    bool equal = schema_value_equal(left, right, &run->budget);

    return run->budget > 0 ? equal : schema_spend(run, 1);
}

static bool check_const(struct schema_run *run, const struct schema_rule *rule,
                        struct schema_place *place)
{
    AUTO_FREE char *wanted = NULL;

    if (is_equal(run, place->value, rule->value))
        return true;
    if (!schema_listens(run))
        return false;
    wanted = schema_quote(rule->value);
    return schema_problem(run, place, "must be %s", wanted);
}

/* `"a", "b", 3`. Owned by the caller. */
static char *value_list(const json_t *values)
{
    char *text = memory_copy_string("");
    size_t count = json_array_size(values);

    for (size_t i = 0; i < count && i <= LISTED_VALUES; i++) {
        AUTO_FREE char *value = i < LISTED_VALUES ? schema_quote(json_array_get(values, i))
                                                  : memory_format("... (%zu values)", count);
        char *longer = memory_format("%s%s%s", text, i > 0 ? ", " : "", value);

        free(text);
        text = longer;
    }
    return text;
}

/* The string among VALUES that VALUE may be a misspelling of. Borrowed. */
static const char *nearest_string(const json_t *values, const json_t *value)
{
    struct spelling spelling = SPELLING_INIT(json_string_value(value));

    if (!json_is_string(value))
        return NULL;
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_is_string(json_array_get(values, i)))
            spelling_try(&spelling, json_string_value(json_array_get(values, i)));
    return spelling.nearest;
}

bool schema_problem_with_choice(struct schema_run *run, const struct schema_place *place,
                                const json_t *values)
{
    AUTO_FREE char *list = NULL;
    AUTO_FREE char *quoted = NULL;
    const char *nearest;

    if (!schema_listens(run))
        return false;
    list = value_list(values);
    nearest = nearest_string(values, place->value);
    if (!nearest)
        return schema_problem(run, place, "must be one of %s", list);
    quoted = schema_quote_name(nearest);
    return schema_problem(run, place, "must be one of %s; did you mean %s?", list, quoted);
}

bool schema_problem_of_missing(struct schema_run *run, const struct schema_place *place,
                               const char *name, const json_t *values)
{
    AUTO_FREE char *quoted = NULL;
    AUTO_FREE char *list = NULL;

    if (!schema_listens(run))
        return false;
    quoted = schema_quote_name(name);
    if (!values)
        return schema_problem(run, place, "is missing %s", quoted);
    list = value_list(values);
    return schema_problem(run, place, "is missing %s, one of %s", quoted, list);
}

static bool check_enum(struct schema_run *run, const struct schema_rule *rule,
                       struct schema_place *place)
{
    for (size_t i = 0; i < json_array_size(rule->value); i++)
        if (is_equal(run, place->value, json_array_get(rule->value, i)))
            return true;
    if (schema_listens(run) && report_in_words(run, rule, place))
        return false;
    return schema_problem_with_choice(run, place, rule->value);
}

/* One side of a range: the order of value and bound that breaks it, and how it is said. */
struct bound {
    const char *keyword;
    int wrong;        /* sign of the comparison that is too far */
    bool exclusive;   /* equal is too far, too */
    const char *must; /* "be at least" */
};

static const struct bound bounds[] = {
    {"minimum", -1, false, "at least"},
    {"maximum", 1, false, "at most"},
    {"exclusiveMinimum", -1, true, "more than"},
    {"exclusiveMaximum", 1, true, "less than"},
};

static bool check_bound(struct schema_run *run, const struct schema_rule *rule,
                        struct schema_place *place)
{
    const struct bound *bound = bounds;
    AUTO_FREE char *limit = NULL;
    AUTO_FREE char *got = NULL;
    int order;

    if (!json_is_number(place->value))
        return true;
    while (strcmp(bound->keyword, rule->keyword->name) != 0)
        bound++;
    order = schema_value_compare(place->value, rule->value);
    if (order != bound->wrong && (order != 0 || !bound->exclusive))
        return true;
    if (!schema_listens(run))
        return false;
    limit = schema_quote(rule->value);
    got = schema_quote(place->value);
    return schema_problem(run, place, "must be %s %s, not %s", bound->must, limit, got);
}

static bool check_multiple(struct schema_run *run, const struct schema_rule *rule,
                           struct schema_place *place)
{
    AUTO_FREE char *unit = NULL;
    AUTO_FREE char *got = NULL;

    if (!json_is_number(place->value) || schema_value_is_multiple(place->value, rule->value))
        return true;
    if (!schema_listens(run))
        return false;
    unit = schema_quote(rule->value);
    got = schema_quote(place->value);
    return schema_problem(run, place, "must be a multiple of %s, not %s", unit, got);
}

/* The keywords that count: characters, items, members. */
struct count {
    const char *keyword;
    json_type type;
    int wrong; /* sign of (count - bound) that is too far */
    const char *must;
    const char *unit;
};

static const struct count counts[] = {
    {"minLength", JSON_STRING, -1, "at least", "character"},
    {"maxLength", JSON_STRING, 1, "at most", "character"},
    {"minItems", JSON_ARRAY, -1, "at least", "item"},
    {"maxItems", JSON_ARRAY, 1, "at most", "item"},
    {"minProperties", JSON_OBJECT, -1, "at least", "member"},
    {"maxProperties", JSON_OBJECT, 1, "at most", "member"},
};

static bool check_count(struct schema_run *run, const struct schema_rule *rule,
                        struct schema_place *place)
{
    const struct count *count = counts;
    double bound = json_number_value(rule->value);
    double got;

    while (strcmp(count->keyword, rule->keyword->name) != 0)
        count++;
    if (json_typeof(place->value) != count->type)
        return true;
    if (!schema_spend(run, json_string_length(place->value) / BYTES_PER_STEP))
        return false;
    got = (double)schema_value_count(place->value);
    if (count->wrong < 0 ? got >= bound : got <= bound)
        return true;
    return schema_problem(run, place, "must have %s %.0f %s%s, not %.0f", count->must, bound,
                          count->unit, bound == 1 ? "" : "s", got);
}

bool schema_matches(struct schema_run *run, const struct pattern *pattern, const char *text,
                    size_t length)
{
    bool found = schema_spend(run, 1) && pattern_matches(pattern, text, length, &run->budget);

    return run->budget > 0 ? found : schema_spend(run, 1);
}

static bool check_pattern(struct schema_run *run, const struct schema_rule *rule,
                          struct schema_place *place)
{
    AUTO_FREE char *pattern = NULL;
    AUTO_FREE char *got = NULL;

    if (!json_is_string(place->value))
        return true;
    if (schema_matches(run, rule->pattern, json_string_value(place->value),
                       json_string_length(place->value)))
        return true;
    if (!schema_listens(run) || report_in_words(run, rule, place))
        return false;
    pattern = schema_quote(rule->value);
    got = schema_quote(place->value);
    return schema_problem(run, place, "must match %s, which %s does not", pattern, got);
}

static bool check_unique(struct schema_run *run, const struct schema_rule *rule,
                         struct schema_place *place)
{
    size_t count = json_array_size(place->value);

    if (!json_is_true(rule->value))
        return true;
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            if (is_equal(run, json_array_get(place->value, i), json_array_get(place->value, j)))
                return schema_problem(run, place, "must not have equal items, as %zu and %zu are",
                                      j, i);
            if (run->given_up)
                return false;
        }
    return true;
}

/* What the member NAME of the schema that RULE stands in may be, if that is listed; else NULL. */
static const json_t *listed_values(const struct schema_rule *rule, const char *name)
{
    const struct schema_rule *properties = schema_rule_find(rule->node, "properties");
    const struct schema_member *member =
        properties ? schema_rule_find_member(properties, name) : NULL;
    const struct schema_rule *listed = member ? schema_rule_find(member->node, "enum") : NULL;

    return listed ? listed->value : NULL;
}

static bool check_required(struct schema_run *run, const struct schema_rule *rule,
                           struct schema_place *place)
{
    bool fits = true;

    for (size_t i = 0; i < json_array_size(rule->value) && json_is_object(place->value); i++) {
        const char *name = json_string_value(json_array_get(rule->value, i));
        const json_t *values = listed_values(rule, name);

        if (json_object_get(place->value, name))
            continue;
        if (!schema_listens(run))
            return false;
        fits = schema_problem_of_missing(run, place, name, values);
    }
    return fits;
}

static bool check_dependent(struct schema_run *run, const struct schema_rule *rule,
                            struct schema_place *place)
{
    const char *given;
    json_t *names;
    bool fits = true;

    json_object_foreach ((json_t *)rule->value, given, names) {
        for (size_t i = 0; i < json_array_size(names); i++) {
            const char *name = json_string_value(json_array_get(names, i));
            AUTO_FREE char *because = NULL;
            AUTO_FREE char *missing = NULL;

            if (!json_object_get(place->value, given) || json_object_get(place->value, name))
                continue;
            if (!schema_listens(run))
                return false;
            missing = schema_quote_name(name);
            because = schema_quote_name(given);
            fits = schema_problem(run, place, "is missing %s, which %s needs", missing, because);
        }
    }
    return fits;
}

const struct schema_keyword schema_assertions[] = {
    {"type", SCHEMA_SHAPE_TYPES, check_type},
    {"const", SCHEMA_SHAPE_ANY, check_const},
    {"enum", SCHEMA_SHAPE_ARRAY, check_enum},
    {"minimum", SCHEMA_SHAPE_NUMBER, check_bound},
    {"maximum", SCHEMA_SHAPE_NUMBER, check_bound},
    {"exclusiveMinimum", SCHEMA_SHAPE_NUMBER, check_bound},
    {"exclusiveMaximum", SCHEMA_SHAPE_NUMBER, check_bound},
    {"multipleOf", SCHEMA_SHAPE_POSITIVE, check_multiple},
    {"minLength", SCHEMA_SHAPE_COUNT, check_count},
    {"maxLength", SCHEMA_SHAPE_COUNT, check_count},
    {"pattern", SCHEMA_SHAPE_PATTERN, check_pattern},
    {"minItems", SCHEMA_SHAPE_COUNT, check_count},
    {"maxItems", SCHEMA_SHAPE_COUNT, check_count},
    {"uniqueItems", SCHEMA_SHAPE_BOOLEAN, check_unique},
    {"minProperties", SCHEMA_SHAPE_COUNT, check_count},
    {"maxProperties", SCHEMA_SHAPE_COUNT, check_count},
    {"required", SCHEMA_SHAPE_NAMES, check_required},
    {"dependentRequired", SCHEMA_SHAPE_NAMES_BY_NAME, check_dependent},
    {NULL},
};
