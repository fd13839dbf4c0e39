/* From a document to nodes and rules. The first thing that is wrong ends it. */
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"
#include "base/spelling.h"

#include <stdlib.h>
#include <string.h>

enum { NESTING_LIMIT = 128 }; /* of schemas in schemas */

/* One compilation. */
struct compiler {
    struct schema *schema;
    size_t capacity; /* of its nodes */
    size_t depth;
    struct error *err;
};

static int compile_node(struct compiler *compiler, const json_t *source, char *pointer /* taken */,
                        const struct schema_node *parent, struct schema_node **ret);

static int schema_compile_refuse(struct compiler *compiler, const struct schema_node *node,
                                 const char *keyword, const char *problem)
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

    for (size_t i = 0; i < SCHEMA_KEYWORD_TABLES; i++)
        for (const struct schema_keyword *keyword = schema_keyword_tables[i]; keyword->name;
             keyword++)
            spelling_try(&spelling, keyword->name);
    problem = spelling.nearest ? memory_format("keyword %s is not supported, did you mean \"%s\"?",
                                               quoted, spelling.nearest)
                               : memory_format("keyword %s is not supported", quoted);
    return schema_compile_refuse(compiler, node, name, problem);
}

static int check_shape(struct compiler *compiler, const struct schema_rule *rule)
{
    AUTO_FREE char *problem = NULL;
    AUTO_FREE char *got = NULL;

    if (schema_shape_fits(rule->keyword->shape, rule->value))
        return 0;
    got = schema_quote(rule->value);
    problem = memory_format("must be %s, not %s", schema_shape_name(rule->keyword->shape), got);
    return schema_compile_refuse(compiler, rule->node, rule->keyword->name, problem);
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
    json_object_foreach ((json_t *)rule->value, name, source) {
        member->name = name;
        if (compile_named(compiler, rule, member++, source) < 0)
            return -1;
    }
    qsort(rule->members, rule->member_count, sizeof *rule->members, schema_member_compare);
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

    json_object_foreach ((json_t *)node->source, name, value) {
        if (strncmp(name, "x-", 2) != 0 && !schema_keyword_find(name))
            return refuse_keyword(compiler, node, name);
    }
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
    for (size_t i = 0; i < SCHEMA_KEYWORD_TABLES; i++)
        for (const struct schema_keyword *keyword = schema_keyword_tables[i]; keyword->name;
             keyword++)
            if (compile_keyword(compiler, node, keyword) < 0)
                return -1;
    node->sees = schema_rule_find(node, "unevaluatedItems") ||
                 schema_rule_find(node, "unevaluatedProperties");
    return 0;
}

/* A schema with "$id" is a resource with a URI of its own, any other part of the one around it. */
static void schema_compile_identify(struct schema_node *node, const struct schema_node *parent)
{
    const char *id = json_object_get_string(node->source, "$id");

    node->base = parent ? parent->base : "";
    node->resource = parent ? parent->resource : node;
    if (!id)
        return;
    node->identifier = schema_uri_resolve(node->base, id);
    node->base = node->identifier;
    node->resource = node;
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
    schema_compile_identify(node, parent);
    return node;
}

static int compile_node(struct compiler *compiler, const json_t *source, char *pointer,
                        const struct schema_node *parent, struct schema_node **ret)
{
    struct schema_node *node = add_node(compiler, source, pointer, parent);
    int result;

    *ret = node;
    if (!schema_shape_fits(SCHEMA_SHAPE_SCHEMA, source))
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

int schema_compile(struct schema *schema, struct error *err)
{
    struct compiler compiler = {.schema = schema, .err = err};
    struct schema_node *root;

    return compile_node(&compiler, schema->document, memory_copy_string(""), NULL, &root);
}
