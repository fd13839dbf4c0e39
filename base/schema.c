#include "base/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/schema_node.h"
#include "base/schema_value.h"
#include "base/spelling.h"

enum {
    NESTING_LIMIT = 128,      /* schemas in schemas */
    STEP_LIMIT = 1000 * 1000, /* of one validation; some 50 ms */
};

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

/* Keywords that say who a schema is, or nothing that is checked. */
const struct schema_keyword schema_identities[] = {
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

/* In the order in which their rules are checked. */
static const struct schema_keyword *const tables[] = {
    schema_identities,
    schema_assertions,
    schema_applicators,
    schema_part_keywords,
};

enum { TABLE_COUNT = sizeof tables / sizeof *tables };

const struct schema_keyword *schema_keyword_find(const char *name)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        for (const struct schema_keyword *keyword = tables[i]; keyword->name; keyword++)
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

static int compare_names(const void *left, const void *right)
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
    return bsearch(&wanted, rule->members, rule->member_count, sizeof wanted, compare_names);
}

static bool is_any(const json_t *value)
{
    return value;
}

static bool is_boolean(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_string(const json_t *value)
{
    return json_is_string(value);
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_positive(const json_t *value)
{
    return json_number_value(value) > 0;
}

static bool is_count(const json_t *value)
{
    return schema_value_is_integer(value) && json_number_value(value) >= 0;
}

static bool is_array(const json_t *value)
{
    return json_is_array(value);
}

static bool is_list(const json_t *value)
{
    return json_array_size(value) > 0;
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_schema(const json_t *value)
{
    return json_is_object(value) || json_is_boolean(value);
}

static bool is_type_name(const json_t *value)
{
    static const char *const names[] = {"array",  "boolean", "integer", "null",
                                        "number", "object",  "string"};

    for (size_t i = 0; i < sizeof names / sizeof *names && json_is_string(value); i++)
        if (strcmp(json_string_value(value), names[i]) == 0)
            return true;
    return false;
}

static bool all_items(const json_t *array, bool (*fits)(const json_t *))
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!fits(json_array_get(array, i)))
            return false;
    return json_is_array(array);
}

static bool is_type(const json_t *value)
{
    return is_type_name(value) || (is_list(value) && all_items(value, is_type_name));
}

static bool is_names(const json_t *value)
{
    return all_items(value, is_string);
}

static bool is_names_by_name(const json_t *value)
{
    const char *key;
    json_t *names;

    json_object_foreach((json_t *)value, key, names) if (!is_names(names)) return false;
    return json_is_object(value);
}

static bool is_identifier(const json_t *value)
{
    const char *fragment = json_is_string(value) ? strchr(json_string_value(value), '#') : NULL;

    return json_is_string(value) && (!fragment || !fragment[1]);
}

static bool is_anchor(const json_t *value)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    return *text && strchr(letters, *text) &&
           text[strspn(text, letters) + strspn(text + strspn(text, letters), "-.0123456789")] ==
               '\0';
}

static bool is_dialect(const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    return strcmp(text, DIALECT) == 0 || strcmp(text, DIALECT "#") == 0;
}

static const struct {
    bool (*fits)(const json_t *value);
    const char *wanted;
} shapes[] = {
    [SCHEMA_SHAPE_ANY] = {is_any, "a value"},
    [SCHEMA_SHAPE_BOOLEAN] = {is_boolean, "boolean"},
    [SCHEMA_SHAPE_STRING] = {is_string, "string"},
    [SCHEMA_SHAPE_NUMBER] = {is_number, "number"},
    [SCHEMA_SHAPE_POSITIVE] = {is_positive, "a number more than 0"},
    [SCHEMA_SHAPE_COUNT] = {is_count, "an integer of at least 0"},
    [SCHEMA_SHAPE_ARRAY] = {is_array, "array"},
    [SCHEMA_SHAPE_TYPES] = {is_type, "the name of a type, or an array of them"},
    [SCHEMA_SHAPE_NAMES] = {is_names, "an array of strings"},
    [SCHEMA_SHAPE_NAMES_BY_NAME] = {is_names_by_name, "an object of arrays of strings"},
    [SCHEMA_SHAPE_PATTERN] = {is_string, "a regular expression"},
    [SCHEMA_SHAPE_SCHEMA] = {is_schema, "a schema (object or boolean)"},
    [SCHEMA_SHAPE_SCHEMAS] = {is_list, "an array of schemas"},
    [SCHEMA_SHAPE_SCHEMAS_BY_NAME] = {is_object, "an object of schemas"},
    [SCHEMA_SHAPE_SCHEMAS_BY_PATTERN] = {is_object, "an object of schemas"},
    [SCHEMA_SHAPE_REFERENCE] = {is_string, "a reference"},
    [SCHEMA_SHAPE_IDENTIFIER] = {is_identifier, "a URI without fragment"},
    [SCHEMA_SHAPE_ANCHOR] = {is_anchor, "a plain name"},
    [SCHEMA_SHAPE_DIALECT] = {is_dialect, "\"" DIALECT "\", the only dialect supported"},
};

/* One compilation. */
struct compiler {
    struct schema *schema;
    size_t capacity; /* of its nodes */
    size_t depth;
    struct error *err;
};

static int compile_node(struct compiler *compiler, const json_t *source, char *pointer /* taken */,
                        const struct schema_node *parent, struct schema_node **ret);

static int refuse(struct compiler *compiler, const struct schema_node *node, const char *keyword,
                  const char *problem)
{
    AUTO_FREE char *pointer = json_pointer_append(node->pointer, keyword);

    return error_set(compiler->err, ERROR_CONFIG, "%s: %s", pointer, problem);
}

static int refuse_keyword(struct compiler *compiler, const struct schema_node *node,
                          const char *name)
{
    struct spelling spelling = SPELLING_INIT(name);
    AUTO_FREE char *quoted = schema_quote_name(name);
    AUTO_FREE char *problem = NULL;

    for (size_t i = 0; i < TABLE_COUNT; i++)
        for (const struct schema_keyword *keyword = tables[i]; keyword->name; keyword++)
            spelling_try(&spelling, keyword->name);
    problem = spelling.nearest ? memory_format("keyword %s is not supported, did you mean \"%s\"?",
                                               quoted, spelling.nearest)
                               : memory_format("keyword %s is not supported", quoted);
    return refuse(compiler, node, name, problem);
}

static int check_shape(struct compiler *compiler, const struct schema_rule *rule)
{
    AUTO_FREE char *problem = NULL;
    AUTO_FREE char *got = NULL;

    if (shapes[rule->keyword->shape].fits(rule->value))
        return 0;
    got = schema_quote(rule->value);
    problem = memory_format("must be %s, not %s", shapes[rule->keyword->shape].wanted, got);
    return refuse(compiler, rule->node, rule->keyword->name, problem);
}

static struct pattern *compile_pattern(struct compiler *compiler, const char *pointer,
                                       const char *text, size_t length)
{
    struct pattern *pattern = pattern_new(text, length, compiler->err);

    if (!pattern)
        error_prefix(compiler->err, "%s", pointer);
    return pattern;
}

/* Room for COUNT schemas in RULE. */
static void make_members(struct schema_rule *rule, size_t count)
{
    rule->members = memory_new(count, sizeof *rule->members);
    rule->member_count = count;
}

static int compile_single(struct compiler *compiler, struct schema_rule *rule)
{
    make_members(rule, 1);
    return compile_node(compiler, rule->value,
                        json_pointer_append(rule->node->pointer, rule->keyword->name), rule->node,
                        &rule->members[0].node);
}

static int compile_list(struct compiler *compiler, struct schema_rule *rule)
{
    make_members(rule, json_array_size(rule->value));
    for (size_t i = 0; i < rule->member_count; i++) {
        char *pointer = memory_format("%s/%s/%zu", rule->node->pointer, rule->keyword->name, i);

        if (compile_node(compiler, json_array_get(rule->value, i), pointer, rule->node,
                         &rule->members[i].node) < 0)
            return -1;
    }
    return 0;
}

static int compile_named(struct compiler *compiler, struct schema_rule *rule,
                         struct schema_member *member, const json_t *source)
{
    AUTO_FREE char *table = json_pointer_append(rule->node->pointer, rule->keyword->name);
    char *pointer = json_pointer_append(table, member->name);

    if (rule->keyword->shape == SCHEMA_SHAPE_SCHEMAS_BY_PATTERN) {
        member->pattern = compile_pattern(compiler, pointer, member->name, strlen(member->name));
        if (!member->pattern) {
            free(pointer);
            return -1;
        }
    }
    return compile_node(compiler, source, pointer, rule->node, &member->node);
}

static int compile_by_name(struct compiler *compiler, struct schema_rule *rule)
{
    struct schema_member *member;
    const char *name;
    json_t *source;

    make_members(rule, json_object_size(rule->value));
    member = rule->members;
    json_object_foreach((json_t *)rule->value, name, source)
    {
        member->name = name;
        if (compile_named(compiler, rule, member++, source) < 0)
            return -1;
    }
    qsort(rule->members, rule->member_count, sizeof *rule->members, compare_names);
    return 0;
}

static int compile_own_pattern(struct compiler *compiler, struct schema_rule *rule)
{
    AUTO_FREE char *pointer = json_pointer_append(rule->node->pointer, rule->keyword->name);

    rule->pattern = compile_pattern(compiler, pointer, json_string_value(rule->value),
                                    json_string_length(rule->value));
    return rule->pattern ? 0 : -1;
}

static int compile_rule(struct compiler *compiler, struct schema_rule *rule)
{
    if (check_shape(compiler, rule) < 0)
        return -1;
    switch (rule->keyword->shape) {
    case SCHEMA_SHAPE_PATTERN:
        return compile_own_pattern(compiler, rule);
    case SCHEMA_SHAPE_SCHEMA:
        return compile_single(compiler, rule);
    case SCHEMA_SHAPE_SCHEMAS:
        return compile_list(compiler, rule);
    case SCHEMA_SHAPE_SCHEMAS_BY_NAME:
    case SCHEMA_SHAPE_SCHEMAS_BY_PATTERN:
        return compile_by_name(compiler, rule);
    case SCHEMA_SHAPE_REFERENCE:
        make_members(rule, 1); /* schema_link fills it in */
        return 0;
    default:
        return 0;
    }
}

static int check_keywords(struct compiler *compiler, const struct schema_node *node)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)node->source, name,
                        value) if (strncmp(name, "x-", 2) != 0 &&
                                   !schema_keyword_find(name)) return refuse_keyword(compiler, node,
                                                                                     name);
    return 0;
}

static int compile_keyword(struct compiler *compiler, struct schema_node *node,
                           const struct schema_keyword *keyword)
{
    const json_t *value = json_object_get(node->source, keyword->name);
    struct schema_rule *rule = &node->rules[node->rule_count];

    if (!value)
        return 0;
    *rule = (struct schema_rule){.keyword = keyword, .node = node, .value = value};
    node->rule_count++;
    return compile_rule(compiler, rule);
}

static int compile_rules(struct compiler *compiler, struct schema_node *node)
{
    node->rules = memory_new(json_object_size(node->source), sizeof *node->rules);
    for (size_t i = 0; i < TABLE_COUNT; i++)
        for (const struct schema_keyword *keyword = tables[i]; keyword->name; keyword++)
            if (compile_keyword(compiler, node, keyword) < 0)
                return -1;
    node->sees = schema_rule_find(node, "unevaluatedItems") ||
                 schema_rule_find(node, "unevaluatedProperties");
    return 0;
}

/* A schema with "$id" is a resource with a URI of its own, any other part of the one around it. */
static void identify(struct schema_node *node, const struct schema_node *parent)
{
    const char *id = json_object_get_string(node->source, "$id");

    node->base = id ? schema_uri_resolve(parent ? parent->base : "", id)
                    : memory_copy_string(parent ? parent->base : "");
    node->resource = id || !parent ? node->pointer : parent->resource;
}

static struct schema_node *add_node(struct compiler *compiler, const json_t *source,
                                    char *pointer /* taken */, const struct schema_node *parent)
{
    struct schema *schema = compiler->schema;
    struct schema_node *node = NEW(struct schema_node);

    if (schema->node_count == compiler->capacity) {
        compiler->capacity = 2 * compiler->capacity + 16;
        schema->nodes = memory_resize(schema->nodes, compiler->capacity * sizeof *schema->nodes);
    }
    schema->nodes[schema->node_count++] = node;
    node->source = source;
    node->pointer = pointer;
    identify(node, parent);
    return node;
}

static int compile_node(struct compiler *compiler, const json_t *source, char *pointer,
                        const struct schema_node *parent, struct schema_node **ret)
{
    struct schema_node *node = add_node(compiler, source, pointer, parent);
    int result;

    *ret = node;
    if (!is_schema(source))
        return error_set(compiler->err, ERROR_CONFIG,
                         "%s: must be a schema (object or boolean), not %s", pointer,
                         json_type_name(source));
    if (compiler->depth == NESTING_LIMIT)
        return error_set(compiler->err, ERROR_CONFIG, "%s: is nested too deeply", pointer);
    if (check_keywords(compiler, node) < 0)
        return -1;
    compiler->depth++;
    result = compile_rules(compiler, node);
    compiler->depth--;
    return result;
}

struct schema *schema_new(json_t *document, struct error *err)
{
    struct schema *schema = NEW(struct schema);
    struct compiler compiler = {.schema = schema, .err = err};
    struct schema_node *root;

    schema->document = json_incref(document);
    if (compile_node(&compiler, document, memory_copy_string(""), NULL, &root) < 0 ||
        schema_link(schema, err) < 0) {
        schema_free(schema);
        return NULL;
    }
    return schema;
}

static void free_rule(struct schema_rule *rule)
{
    for (size_t i = 0; i < rule->member_count; i++)
        pattern_free(rule->members[i].pattern);
    free(rule->members);
    pattern_free(rule->pattern);
}

static void free_node(struct schema_node *node)
{
    for (size_t i = 0; i < node->rule_count; i++)
        free_rule(&node->rules[i]);
    free(node->rules);
    free(node->pointer);
    free(node->base);
    free(node);
}

void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->node_count; i++)
        free_node(schema->nodes[i]);
    free(schema->nodes);
    json_decref(schema->document);
    free(schema);
}

bool schema_validate(const struct schema *schema, const json_t *instance, schema_problem_fn report,
                     void *data)
{
    struct schema_run run = {
        .report = report,
        .data = data,
        .budget = STEP_LIMIT,
        .silent = !report,
    };
    struct schema_place root = {.value = instance};
    bool fits = schema_evaluate(&run, schema->nodes[0], &root);

    if (run.given_up && report)
        report(data, SCHEMA_AT_VALUE, "", run.given_up);
    return fits && !run.given_up;
}
