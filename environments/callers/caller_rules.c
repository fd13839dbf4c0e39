#include "environments/callers/caller_rules.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/text.h"
#include "environments/callers/caller_check.h"
#include "environments/callers/definition_schema.h"
#include "environments/kinds/kinds.h"

#include <stdlib.h>
#include <string.h>

/* The keys */

enum showing {
    SHOWN,
    SHOWN_WITH_PATHS, /* where there are paths that a call may name */
    NOT_SHOWN,        /* accepted, but not shown to models */
};

static const struct key_rule {
    const char *key;
    enum showing showing;
    void (*check)(struct caller_check *check, const char *key, json_t *value); /* NULL: any value */
} key_rules[] = {
    {"type", NOT_SHOWN, NULL}, /* described separately */
    {"executable", SHOWN_WITH_PATHS, caller_check_executable},
    {"venv_path", SHOWN_WITH_PATHS, caller_check_new_path},
    {"python_path", SHOWN_WITH_PATHS, caller_check_path},
    {"python_version", SHOWN, NULL},
    {"system_site_packages", SHOWN, NULL},
    {"image", SHOWN, caller_check_image},
    {"pull", NOT_SHOWN, NULL},
    {"pip_packages", SHOWN, caller_check_packages},
    {"requirements_file", SHOWN_WITH_PATHS, caller_check_path},
    {"pip_find_links", SHOWN_WITH_PATHS, caller_check_path},
    {"volumes", SHOWN_WITH_PATHS, caller_check_volumes},
    {"environment", SHOWN, caller_check_variables},
    {"network", NOT_SHOWN, caller_check_network},
    {"container_name_prefix", NOT_SHOWN, NULL},
    {"container_startup_timeout", NOT_SHOWN, caller_check_startup},
    {"cleanup_container", SHOWN, NULL},
    {"keep_container_running", SHOWN, NULL},
    {"limits", NOT_SHOWN, caller_check_limits},
    {"timeout", NOT_SHOWN, caller_check_time},
    {"max_timeout", NOT_SHOWN, caller_check_time},
};

enum { KEY_RULES = ARRAY_SIZE(key_rules) };

static const struct key_rule *find_rule(const char *key)
{
    for (size_t i = 0; i < KEY_RULES; i++)
        if (strcmp(key_rules[i].key, key) == 0)
            return &key_rules[i];
    return NULL;
}

/* False when KEY of the definition has been refused, or its VALUE is null, which stands for
 * nothing. A key that no type has is left to the schema, which suggests a similar one. */
static bool check_key(struct caller_check *check, const char *key, const json_t *value)
{
    const char *type = json_object_get_string(check->result->definition, "type");
    AUTO_FREE char *types = definition_schemas_types(check->rules->schemas, key);

    if (types && json_is_null(value))
        return false;
    if (types && !definition_schema_has(check->schema, key))
        caller_check_refuse(check, key, "is a key of type %s, not of %s", types, type);
    else if (types && !find_rule(key))
        caller_check_refuse(check, key, "only the operator can set this, in the configuration");
    else
        return true;
    return false;
}

static void check_keys(struct caller_check *check)
{
    json_t *definition = check->result->definition;
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe (definition, next, key, value)
        if (!check_key(check, key, value))
            json_object_del(definition, key);
}

/* The definition fits its schema. */
static void check_values(struct caller_check *check)
{
    json_t *definition = check->result->definition;

    for (size_t i = 0; i < KEY_RULES; i++) {
        json_t *value = json_object_get(definition, key_rules[i].key);

        if (value && key_rules[i].check)
            key_rules[i].check(check, key_rules[i].key, value);
    }
}

/* Sizes become numbers of bytes. Other texts stay as they are, and the schema refuses them. */
static void read_sizes(json_t *limits)
{
    const char *key;
    json_t *size;

    json_object_foreach (limits, key, size) {
        uint64_t bytes;

        if (json_is_string(size) && quantity_read_bytes(json_string_value(size), &bytes))
            json_object_set_new(limits, key, json_integer((json_int_t)bytes));
    }
}

/* Texts are used as C strings, so what follows a NUL character would not be checked. */
static bool has_nul(const json_t *value)
{
    const char *key;
    json_t *part;
    size_t i;

    if (json_is_string(value))
        return strlen(json_string_value(value)) != json_string_length(value);
    json_array_foreach (value, i, part)
        if (has_nul(part))
            return true;
    json_object_foreach ((json_t *)value, key, part)
        if (has_nul(part))
            return true;
    return false;
}

/* Refuses the type, and lists the kinds that exist. */
static void refuse_type(struct caller_check *check)
{
    AUTO_FREE char *names = memory_copy_string("");
    AUTO_FREE char *misfit = NULL;

    for (size_t i = 0; i < environment_kinds_count(); i++) {
        char *longer =
            memory_format("%s%s\"%s\"", names, i ? ", " : "", environment_kinds_at(i)->name);

        free(names);
        names = longer;
    }
    misfit = memory_format(CALLER_ARGUMENT ".type must be one of %s", names);
    misfits_add(&check->misfits, misfit);
}

static void caller_rules_examine(struct caller_check *check)
{
    const json_t *definition = check->result->definition;

    if (!check->schema) {
        refuse_type(check);
        return;
    }
    if (has_nul(definition)) {
        misfits_add(&check->misfits, CALLER_ARGUMENT " has a NUL character in a text");
        return;
    }
    check_keys(check);
    read_sizes(json_object_get(definition, "limits"));
    if (!definition_schema_validate(check->schema, definition, misfits_on_problem, &check->misfits))
        return;
    definition_schema_complete(check->schema, check->result->definition);
    check_values(check);
}

int caller_rules_settle(const struct caller_rules *rules, const json_t *written,
                        struct caller_definition *ret, struct error *err)
{
    struct caller_definition settled = {
        .definition = json_deep_copy(written),
        .paths = json_array(),
    };
    struct caller_check check = {
        .rules = rules,
        .schema = definition_schemas_find(rules->schemas, json_object_get_string(written, "type")),
        .result = &settled,
        .misfits = {.whole = CALLER_ARGUMENT, .prefix = CALLER_ARGUMENT "."},
    };

    caller_rules_examine(&check);
    if (misfits_tell(&check.misfits, "arguments do not fit", err) < 0) {
        caller_definition_deinit(&settled);
        return -1;
    }
    *ret = settled;
    return 0;
}

void caller_definition_deinit(struct caller_definition *definition)
{
    json_decref(definition->definition);
    json_decref(definition->paths);
    *definition = (struct caller_definition){0};
}

json_t *caller_rules_unsettle(const json_t *definition)
{
    json_t *written = json_copy((json_t *)definition);
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe (written, next, key, value)
        if (!find_rule(key))
            json_object_del(written, key);
    return written;
}

const struct environment_settings *caller_rules_settings(const struct caller_rules *rules)
{
    return &rules->settings;
}

/* The schema for models */

/* Whether the rules allow a definition of KIND at all. */
static bool is_permitted(const struct caller_rules *rules, const struct environment_kind *kind)
{
    return !kind->is_restricted || json_array_size(rules->allowed_images) > 0;
}

/* The same, and this machine could run it, too. */
static bool is_possible(const struct caller_rules *rules, const struct environment_kind *kind)
{
    return is_permitted(rules, kind) && (!kind->is_possible || kind->is_possible());
}

/* The names of the kinds that are SUCH. New reference. */
static json_t *types_that(const struct caller_rules *rules,
                          bool (*such)(const struct caller_rules *rules,
                                       const struct environment_kind *kind))
{
    json_t *types = json_array();

    for (size_t i = 0; i < environment_kinds_count(); i++)
        if (such(rules, environment_kinds_at(i)))
            json_array_append_new(types, json_string(environment_kinds_at(i)->name));
    return types;
}

/* A type that is allowed, but not possible now, is not told, and not excluded either: what it needs
 * may be there when it is asked for. New reference. */
static json_t *describe_type(const struct caller_rules *rules)
{
    AUTO_JSON json_t *allowed = types_that(rules, is_permitted);
    AUTO_JSON json_t *possible = types_that(rules, is_possible);
    AUTO_FREE char *list = json_list(possible);

    if (json_equal(allowed, possible))
        return json_pack("{s:s, s:O}", "type", "string", "enum", allowed);
    return json_pack("{s:s, s:o}", "type", "string", "description",
                     json_string_format("One of: %s.", list));
}

static bool is_shown(const struct caller_rules *rules, const struct key_rule *rule)
{
    if (rule->showing == SHOWN_WITH_PATHS)
        return json_array_size(rules->allowed_paths) > 0;
    return rule->showing == SHOWN;
}

/* The first possible type that has KEY, or NULL. */
static const struct definition_schema *schema_with(const struct caller_rules *rules,
                                                   const char *key)
{
    for (size_t i = 0; i < environment_kinds_count(); i++) {
        const struct environment_kind *kind = environment_kinds_at(i);
        const struct definition_schema *schema =
            definition_schemas_find(rules->schemas, kind->name);

        if (is_possible(rules, kind) && definition_schema_has(schema, key))
            return schema;
    }
    return NULL;
}

/* " Default: python:3.11-slim. Allowed: python:*." Owned by the caller. */
static char *describe_images(const struct caller_rules *rules,
                             const struct definition_schema *schema)
{
    AUTO_FREE char *list = json_list(rules->allowed_images);

    return memory_format(" Default: %s. Allowed: %s.",
                         json_string_value(definition_schema_default(schema, "image")), list);
}

/* The possible types that have KEY: "venv or docker". Owned by the caller. */
static char *describe_possible_types(const struct caller_rules *rules, const char *key)
{
    char *types = memory_copy_string("");

    for (size_t i = 0; i < environment_kinds_count(); i++) {
        const struct environment_kind *kind = environment_kinds_at(i);
        AUTO_FREE char *before = types;

        types =
            is_possible(rules, kind) &&
                    definition_schema_has(definition_schemas_find(rules->schemas, kind->name), key)
                ? memory_format("%s%s%s", before, *before ? " or " : "", kind->name)
                : STEAL_PTR(before);
    }
    return types;
}

/* "venv or docker: Python packages that are installed." */
static json_t *describe_key(const struct caller_rules *rules,
                            const struct definition_schema *schema, const char *key)
{
    json_t *brief = definition_schema_brief(schema, key);
    AUTO_FREE char *types = describe_possible_types(rules, key);
    AUTO_FREE char *images =
        strcmp(key, "image") == 0 ? describe_images(rules, schema) : memory_copy_string("");

    json_object_set_new(brief, "description",
                        json_string_format("%s: %s%s", types,
                                           json_object_get_string(brief, "description"), images));
    return brief;
}

/* A text about the sandbox of a definition's scripts, for models; "" if they have none. Owned by
 * the caller. */
static char *caller_rules_describe_sandbox(const struct caller_rules *rules,
                                           struct process_host *host)
{
    const struct sandbox_settings *settings = &rules->settings.sandbox;
    const char *start = settings->is_optional ? settings->start : NULL;
    const struct process_sandbox all = {0};

    if (!settings->is_wanted ||
        (settings->is_optional && host && !process_host_has_sandbox(host, &all)))
        return memory_copy_string("");
    return memory_format(
        " Its scripts have no network, and of files only the working directory%s%s%s%s.",
        !host || process_host_receipt(host, &all).layers & LAYER_ROOT ? ", /tmp" : "",
        start ? ", " : "", text_or_none(start), start ? " (read-only)" : "");
}

json_t *caller_rules_schema(const struct caller_rules *rules, struct process_host *host)
{
    AUTO_FREE char *held = caller_rules_describe_sandbox(rules, host);
    AUTO_FREE char *paths = json_list(rules->allowed_paths);
    json_t *properties = json_pack("{s:o}", "type", describe_type(rules));

    for (size_t i = 0; i < KEY_RULES; i++) {
        const char *key = key_rules[i].key;
        const struct definition_schema *schema = schema_with(rules, key);

        if (schema && is_shown(rules, &key_rules[i]))
            json_object_set_new(properties, key, describe_key(rules, schema, key));
    }
    return json_pack("{s:s, s:o, s:o, s:[s]}", "type", "object", "description",
                     json_string_format("An environment of your own, in place of `environment`. "
                                        "The same definition finds the same one again.%s%s%s%s",
                                        held, *paths ? " Paths are absolute, in one of: " : "",
                                        paths, *paths ? "." : ""),
                     "properties", properties, "required", "type");
}

/* Making them */

static int parse_patterns(struct caller_rules *rules, size_t *ret_index, struct error *err)
{
    size_t count = json_array_size(rules->allowed_images);

    rules->patterns = memory_new(count + 1, sizeof *rules->patterns);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(rules->allowed_images, i));

        *ret_index = i;
        if (image_pattern_parse(&rules->patterns[i], text, err) < 0)
            return -1;
    }
    return 0;
}

struct caller_rules *caller_rules_new(const json_t *allowed_images, const json_t *allowed_paths,
                                      const struct environment_settings *settings,
                                      size_t *ret_index, struct error *err)
{
    struct caller_rules *rules = NEW(struct caller_rules);

    rules->schemas = definition_schemas_new();
    rules->allowed_images = allowed_images;
    rules->allowed_paths = allowed_paths;
    rules->settings = *settings;
    if (parse_patterns(rules, ret_index, err) == 0)
        return rules;
    caller_rules_free(rules);
    return NULL;
}

void caller_rules_free(struct caller_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; rules->patterns && i < json_array_size(rules->allowed_images); i++)
        image_reference_deinit(&rules->patterns[i]);
    free(rules->patterns);
    definition_schemas_free(rules->schemas);
    free(rules);
}
