#include "server/tools/registry.h"

#include "base/list.h"
#include "base/memory.h"
#include "base/schema.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 128 };

static const char NAME_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_.-";

struct entry {
    struct tool tool;            /* its strings and schemas: owned */
    struct schema *input_schema; /* owned */
};

struct registry {
    struct entry **entries; /* owned, and what they point to */
    size_t count;
};

struct registry *registry_new(void)
{
    return NEW(struct registry);
}

static void entry_free(struct entry *entry)
{
    schema_free(entry->input_schema);
    json_decref(entry->tool.annotations);
    json_decref(entry->tool.output_schema);
    json_decref(entry->tool.input_schema);
    free((char *)entry->tool.description);
    free((char *)entry->tool.title);
    free((char *)entry->tool.name);
    free(entry);
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        entry_free(registry->entries[i]);
    free(registry->entries);
    free(registry);
}

const struct tool *registry_find(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->count; i++) {
        if (strcmp(registry->entries[i]->tool.name, name) == 0)
            return &registry->entries[i]->tool;
    }
    return NULL;
}

size_t registry_count(const struct registry *registry)
{
    return registry->count;
}

const struct tool *registry_at(const struct registry *registry, size_t position)
{
    assert(position < registry->count);
    return &registry->entries[position]->tool;
}

const struct schema *registry_input_schema(const struct tool *tool)
{
    return CONTAINER_OF(tool, struct entry, tool)->input_schema;
}

static struct entry *entry_new(const struct tool *tool)
{
    struct entry *entry = NEW(struct entry);

    entry->tool = *tool;
    entry->tool.name = memory_copy_string(tool->name ? tool->name : "");
    entry->tool.title = tool->title ? memory_copy_string(tool->title) : NULL;
    entry->tool.description = memory_copy_string(tool->description ? tool->description : "");
    return entry;
}

static int check_name(const struct registry *registry, const char *name, struct error *err)
{
    size_t length = strlen(name);

    if (length == 0 || length > NAME_BYTES || strspn(name, NAME_CHARACTERS) != length)
        return error_set(err, ERROR_CONFIG,
                         "tool name \"%.*s\": must be 1 to %d characters of A-Z a-z 0-9 _ . -",
                         NAME_BYTES, name, NAME_BYTES);
    if (registry_find(registry, name))
        return error_set(err, ERROR_CONFIG, "tool %s: registered already", name);
    return 0;
}

/* Both are shown as they are, so they must be fit to be JSON strings. */
static int check_texts(const struct tool *tool, struct error *err)
{
    const char *texts[] = {tool->title ? tool->title : "", tool->description};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!utf8_is_valid(texts[i], strlen(texts[i])))
            return error_set(err, ERROR_CONFIG, "tool %s: title or description is not UTF-8",
                             tool->name);
    }
    return 0;
}

static int compile_input(struct entry *entry, struct error *err)
{
    const char *type;

    if (!entry->tool.input_schema)
        return error_set(err, ERROR_CONFIG, "missing");
    type = json_string_value(json_object_get(entry->tool.input_schema, "type"));
    if (!type || strcmp(type, "object") != 0)
        return error_set(err, ERROR_CONFIG, "its type must be \"object\"");
    entry->input_schema = schema_new(entry->tool.input_schema, err);
    return entry->input_schema ? 0 : -1;
}

/* What a tool answers is the tool's own business; that its schema means something is checked. */
static int check_output(const struct entry *entry, struct error *err)
{
    struct schema *schema;

    if (!entry->tool.output_schema)
        return 0;
    schema = schema_new(entry->tool.output_schema, err);
    if (!schema)
        return -1;
    schema_free(schema);
    return 0;
}

static int check_entry(const struct registry *registry, struct entry *entry, struct error *err)
{
    if (check_name(registry, entry->tool.name, err) < 0)
        return -1;
    if (check_texts(&entry->tool, err) < 0)
        return -1;
    if (compile_input(entry, err) < 0)
        return error_prefix(err, "tool %s: input schema", entry->tool.name);
    if (check_output(entry, err) < 0)
        return error_prefix(err, "tool %s: output schema", entry->tool.name);
    return 0;
}

int tool_register_function(struct registry *registry, const struct tool *tool, struct error *err)
{
    struct entry *entry = entry_new(tool);

    if (check_entry(registry, entry, err) < 0) {
        entry_free(entry);
        return -1;
    }
    registry->entries =
        memory_resize(registry->entries, (registry->count + 1) * sizeof *registry->entries);
    registry->entries[registry->count++] = entry;
    return 0;
}
