/* The message for a value that fits none of several schemas. A list of the problems under each of
 * them is no help: usually one is meant, and the value's type or a member such as "type" shows
 * which. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_HOPS = 8, TITLE_BYTES = 80 };

/* NODE, or the node that it refers to if the rules are there. */
static const struct schema_node *look_through(const struct schema_node *node)
{
    for (int hops = 0; hops < REFERENCE_HOPS; hops++) {
        const struct schema_rule *reference = schema_rule_find(node, "$ref");

        if (!reference || schema_rule_find(node, "properties"))
            break;
        node = reference->members[0].node;
    }
    return node;
}

static const json_t *rule_value(const struct schema_node *node, const char *keyword)
{
    const struct schema_rule *rule = schema_rule_find(node, keyword);

    return rule ? rule->value : NULL;
}

/* The values a member may have, if they are few: its schema has "const" or "enum". */
static bool has_fixed_values(const struct schema_member *member)
{
    const struct schema_node *node = look_through(member->node);

    return rule_value(node, "const") || rule_value(node, "enum");
}

enum likeness {
    DIFFERENT, /* of another type, or a telling member has another value */
    POSSIBLE,
    MEANT, /* a telling member has the right value */
};

static enum likeness compare_members(struct schema_run *run, const struct schema_node *node,
                                     const struct schema_place *place)
{
    const struct schema_rule *properties = schema_rule_find(node, "properties");
    enum likeness likeness = POSSIBLE;

    for (size_t i = 0; properties && i < properties->member_count; i++) {
        const struct schema_member *member = &properties->members[i];
        struct schema_place telling = {
            .value = json_object_get(place->value, member->name),
            .parent = place,
            .key = member->name,
        };

        if (!telling.value || !has_fixed_values(member))
            continue;
        if (!schema_fits(run, member->node, &telling))
            return DIFFERENT;
        likeness = MEANT;
    }
    return likeness;
}

static enum likeness schema_form_compare(struct schema_run *run, const struct schema_node *node,
                                         struct schema_place *place)
{
    static const char *const telling[] = {"type", "const", "enum"};
    bool fits = true;

    node = look_through(node);
    run->silent++;
    for (size_t i = 0; i < ARRAY_SIZE(telling); i++) {
        const struct schema_rule *rule = schema_rule_find(node, telling[i]);

        if (rule && !rule->keyword->check(run, rule, place))
            fits = false;
    }
    run->silent--;
    return fits ? compare_members(run, node, place) : DIFFERENT;
}

/* The schema of RULE's members that is meant, or the only possible schema; else NULL. */
static const struct schema_node *find_meant(struct schema_run *run, const struct schema_rule *rule,
                                            struct schema_place *place)
{
    const struct schema_node *possible = NULL;
    size_t count = 0;

    for (size_t i = 0; i < rule->member_count; i++) {
        enum likeness likeness = schema_form_compare(run, rule->members[i].node, place);

        if (likeness == MEANT)
            return rule->members[i].node;
        if (likeness == POSSIBLE) {
            possible = rule->members[i].node;
            count++;
        }
    }
    return count == 1 ? possible : NULL;
}

/* The first member of NODE with fixed values, or NULL. */
static const struct schema_member *telling_member(const struct schema_node *node)
{
    const struct schema_rule *properties = schema_rule_find(look_through(node), "properties");

    for (size_t i = 0; properties && i < properties->member_count; i++)
        if (has_fixed_values(&properties->members[i]))
            return &properties->members[i];
    return NULL;
}

/* Adds to VALUES what NODE allows NAME to be; false when it does not say. */
static bool collect_values(json_t *values, const struct schema_node *node, const char *name)
{
    const struct schema_rule *properties = schema_rule_find(look_through(node), "properties");
    const struct schema_member *member =
        properties ? schema_rule_find_member(properties, name) : NULL;
    const struct schema_node *values_of;

    if (!member || !has_fixed_values(member))
        return false;
    values_of = look_through(member->node);
    if (rule_value(values_of, "const"))
        return json_array_append(values, (json_t *)rule_value(values_of, "const")) == 0;
    return json_array_extend(values, (json_t *)rule_value(values_of, "enum")) == 0;
}

/* All forms are told apart by one member, and it has none of their values, or is missing. */
static bool report_telling_member(struct schema_run *run, const struct schema_rule *rule,
                                  struct schema_place *place)
{
    const struct schema_member *telling = telling_member(rule->members[0].node);
    AUTO_JSON json_t *values = json_array();
    struct schema_place member = {.parent = place};

    if (!telling || !json_is_object(place->value))
        return false;
    for (size_t i = 0; i < rule->member_count; i++)
        if (!collect_values(values, rule->members[i].node, telling->name))
            return false;
    member.key = telling->name;
    member.value = json_object_get(place->value, telling->name);
    if (member.value)
        schema_problem_with_choice(run, &member, values);
    else
        schema_problem_of_missing(run, place, telling->name, values);
    return true;
}

/* Puts BETWEEN and PART, which is taken, behind TEXT, which is taken. Owned by the caller. */
static char *schema_form_join(char *text, const char *between, char *part)
{
    char *longer = memory_format("%s%s%s", text, between, part);

    free(text);
    free(part);
    return longer;
}

static char *describe_object(const struct schema_node *node, const json_t *required)
{
    const struct schema_member *telling = telling_member(node);
    const json_t *fixed = telling ? rule_value(look_through(telling->node), "const") : NULL;
    char *text = memory_copy_string("object with ");

    if (fixed) {
        text = schema_form_join(text, "", schema_quote_name(telling->name));
        return schema_form_join(text, " ", schema_quote(fixed));
    }
    for (size_t i = 0; i < json_array_size(required); i++)
        text =
            schema_form_join(text, i > 0 ? " and " : "", schema_quote(json_array_get(required, i)));
    return text;
}

static char *describe_types(const json_t *types)
{
    char *text;

    if (json_is_string(types))
        return memory_copy_string(json_string_value(types));
    text = memory_copy_string("");
    for (size_t i = 0; i < json_array_size(types); i++)
        text = schema_form_join(text, i > 0 ? " or " : "",
                                memory_copy_string(json_string_value(json_array_get(types, i))));
    return text;
}

static size_t cut_length(const char *title)
{
    size_t length = strnlen(title, TITLE_BYTES + 1);

    return length > TITLE_BYTES ? utf8_boundary_before(title, TITLE_BYTES) : length;
}

char *schema_describe(const struct schema_node *node)
{
    const char *title;
    const struct schema_node *target;
    const json_t *required;

    assert(node);
    title = json_object_get_string(node->source, "title");
    target = look_through(node);
    required = rule_value(target, "required");
    if (title)
        return memory_format("%.*s", (int)cut_length(title), title);
    if (rule_value(target, "const"))
        return schema_quote(rule_value(target, "const"));
    if (rule_value(target, "enum"))
        return schema_form_join(memory_copy_string(""), "one of ",
                                schema_quote(rule_value(target, "enum")));
    if (telling_member(target) || json_array_size(required) > 0)
        return describe_object(target, required);
    if (rule_value(target, "type"))
        return describe_types(rule_value(target, "type"));
    return memory_format("what %s describes", *target->pointer ? target->pointer : "the schema");
}

static bool report_all_forms(struct schema_run *run, const struct schema_rule *rule,
                             struct schema_place *place)
{
    char *text = memory_copy_string("");
    size_t count = rule->member_count;

    for (size_t i = 0; i < count; i++)
        text = schema_form_join(text,
                                i == 0           ? ""
                                : i + 1 == count ? " or "
                                                 : ", ",
                                schema_describe(rule->members[i].node));
    schema_problem(run, place, "must be %s", text);
    free(text);
    return false;
}

bool schema_problem_with_forms(struct schema_run *run, const struct schema_rule *rule,
                               struct schema_place *place)
{
    struct schema_place apart = *place;
    const struct schema_node *meant;

    if (!schema_listens(run))
        return false;
    meant = find_meant(run, rule, place);
    apart.seen = NULL;
    if (meant && !schema_evaluate(run, meant, &apart))
        return false;
    return !report_telling_member(run, rule, place) && report_all_forms(run, rule, place);
}
