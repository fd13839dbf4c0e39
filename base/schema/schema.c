#include "base/schema/schema.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"

#include <stdlib.h>
#include <string.h>

/* The schema */

enum { STEP_LIMIT = 1000 * 1000 }; /* of one validation: some 25 ms */

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
    free(node->identifier);
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

struct schema *schema_new(json_t *document, struct error *err)
{
    struct schema *schema = NEW(struct schema);

    schema->document = json_incref(document);
    if (schema_compile(schema, err) == 0 && schema_link(schema, err) == 0 &&
        schema_check_loops(schema, err) == 0)
        return schema;
    schema_free(schema);
    return NULL;
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

/* As a document */

/* The node that NODE refers to, or NULL. Borrowed. */
static const json_t *schema_document_referred(const json_t *document, const json_t *node)
{
    const char *reference = json_object_get_string(node, "$ref");

    if (!reference)
        return NULL;
    for (const char *part = strchr(reference, '/'); part; part = strchr(part, '/')) {
        AUTO_FREE char *key = memory_format("%.*s", (int)strcspn(part + 1, "/"), part + 1);

        document = json_object_get(document, key);
        part++;
    }
    return document;
}

const json_t *schema_document_keyword(const json_t *document, const json_t *node, const char *name)
{
    const json_t *found = NULL;

    for (; node && !found; node = schema_document_referred(document, node))
        found = json_object_get(node, name);
    return found;
}
