#include "server/tools/tool.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/tool_headers.h"
#include "base/schema/schema.h"
#include "base/text.h"
#include "server/tools/account.h"
#include "server/tools/lenient_arguments.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN_BYTES = 64 };

struct tool_entry {
    struct registry_entry entry;
    struct tool tool;            /* its strings and JSON: owned */
    struct schema *input_schema; /* owned */
    json_t *headers;             /* see tool_headers.h; owned */
};

const struct tool *tool_of(const struct registry_entry *entry)
{
    return &CONTAINER_OF(entry, struct tool_entry, entry)->tool;
}

const struct schema *tool_input_schema(const struct registry_entry *entry)
{
    return CONTAINER_OF(entry, struct tool_entry, entry)->input_schema;
}

const json_t *tool_headers(const struct registry_entry *entry)
{
    return CONTAINER_OF(entry, struct tool_entry, entry)->headers;
}

bool tool_is_structured(const struct tool *tool, enum result_form form)
{
    if (tool->form == RESULT_FORM_UNSAID)
        return true;
    return (form == RESULT_FORM_UNSAID ? tool->form : form) == RESULT_FORM_STRUCTURED;
}

/* Registering */

static void tool_entry_free(struct registry_entry *entry)
{
    struct tool_entry *tool_entry = CONTAINER_OF(entry, struct tool_entry, entry);
    struct tool *tool = &tool_entry->tool;

    json_decref(tool_entry->headers);
    schema_free(tool_entry->input_schema);
    json_decref(tool->icons);
    json_decref(tool->annotations);
    json_decref(tool->output_schema);
    json_decref(tool->input_schema);
    free((char *)tool->description);
    free((char *)tool->title);
    free((char *)tool->name);
    free(tool_entry);
}

static struct tool_entry *tool_entry_new(const struct tool *tool)
{
    struct tool_entry *tool_entry = NEW(struct tool_entry);

    tool_entry->tool = *tool;
    tool_entry->tool.name = memory_copy_string(text_or_none(tool->name));
    tool_entry->tool.title = entry_copy_text(tool->title);
    tool_entry->tool.description = memory_copy_string(text_or_none(tool->description));
    tool_entry->entry = (struct registry_entry){
        .kind = REGISTRY_TOOLS,
        .key = tool_entry->tool.name,
        .data = tool->data,
        .start = tool->start,
        .cancel = tool->cancel,
        .free = tool_entry_free,
    };
    return tool_entry;
}

static int tool_check_texts(const struct tool *tool, struct error *err)
{
    if (entry_check_text(tool->title, err) < 0 || entry_check_text(tool->description, err) < 0)
        return error_prefix(err, "tool %s", tool->name);
    return 0;
}

/* Older drafts say the same by the keywords that can be compiled. New reference. */
static json_t *tool_schema_without_draft(const json_t *schema)
{
    json_t *copy = json_copy((json_t *)schema);
    const char *draft = json_object_get_string(copy, "$schema");

    if (draft && (strstr(draft, "/draft-0") || strstr(draft, "/2019-09/")))
        json_object_del(copy, "$schema");
    return copy;
}

/* Any object fits a schema that cannot be compiled. */
static struct schema *tool_compile_foreign(const json_t *schema)
{
    AUTO_JSON json_t *copy = tool_schema_without_draft(schema);
    AUTO_JSON json_t *any = json_pack("{s:s}", "type", "object");
    struct error ignored = ERROR_INIT;
    struct schema *compiled = schema_new(copy, &ignored);

    return compiled ? compiled : schema_new(any, &ignored);
}

static int compile_input(struct tool_entry *entry, struct error *err)
{
    const char *type;

    if (!entry->tool.input_schema)
        return error_set(err, ERROR_CONFIG, "missing");
    type = json_string_value(json_object_get(entry->tool.input_schema, "type"));
    if (!type || strcmp(type, "object") != 0)
        return error_set(err, ERROR_CONFIG, "its type must be \"object\"");
    if (entry->tool.is_foreign) {
        entry->input_schema = tool_compile_foreign(entry->tool.input_schema);
        return 0;
    }
    entry->input_schema = schema_new(entry->tool.input_schema, err);
    if (!entry->input_schema)
        return -1;
    return tool_headers_read(entry->tool.input_schema, &entry->headers, err);
}

/* Results are not checked against the output schema, but the schema itself is checked. */
static int check_output(const struct tool_entry *entry, struct error *err)
{
    struct schema *schema;

    if (!entry->tool.output_schema || entry->tool.is_foreign)
        return 0;
    schema = schema_new(entry->tool.output_schema, err);
    if (!schema)
        return -1;
    schema_free(schema);
    return 0;
}

static int tool_check_entry(struct tool_entry *entry, struct error *err)
{
    if (entry_check_name("tool", entry->tool.name, err) < 0)
        return -1;
    if (tool_check_texts(&entry->tool, err) < 0)
        return -1;
    if (compile_input(entry, err) < 0)
        return error_prefix(err, "tool %s: input schema", entry->tool.name);
    if (check_output(entry, err) < 0)
        return error_prefix(err, "tool %s: output schema", entry->tool.name);
    return 0;
}

/* A new, checked entry of TOOL, or NULL. */
static struct tool_entry *make_entry(const struct tool *tool, struct error *err)
{
    struct tool_entry *tool_entry = tool_entry_new(tool);

    if (tool_check_entry(tool_entry, err) == 0)
        return tool_entry;
    tool_entry_free(&tool_entry->entry);
    return NULL;
}

int tool_register_function(struct registry *registry, const struct tool *tool, struct error *err)
{
    struct tool_entry *tool_entry = make_entry(tool, err);

    if (!tool_entry)
        return -1;
    if (registry_add(registry, &tool_entry->entry, err) == 0)
        return 0;
    tool_entry_free(&tool_entry->entry);
    return error_prefix(err, "tool");
}

int tool_replace(struct registry *registry, const struct tool *tool, struct error *err)
{
    struct tool_entry *tool_entry = make_entry(tool, err);

    if (!tool_entry)
        return -1;
    registry_replace(registry, &tool_entry->entry);
    return 0;
}

static bool tool_looks_like(const struct tool *a, const struct tool *b)
{
    return strcmp(a->description, b->description) == 0 && a->form == b->form &&
           json_equal(a->input_schema, b->input_schema);
}

int tool_offer(struct registry *registry, const struct tool *tool, struct error *err)
{
    const struct registry_entry *entry = registry_find(registry, REGISTRY_TOOLS, tool->name);

    if (!entry)
        return tool_register_function(registry, tool, err);
    if (!tool_looks_like(tool_of(entry), tool))
        return tool_replace(registry, tool, err);
    json_decref(tool->input_schema);
    json_decref(tool->output_schema);
    json_decref(tool->annotations);
    json_decref(tool->icons);
    return 0;
}

/* Arguments */

static void tool_normalise(struct invocation *invocation)
{
    invocation->normalised = invocation->arguments
                                 ? lenient_arguments_read(invocation->arguments,
                                                          tool_of(invocation->entry)->input_schema)
                                 : json_object();
    invocation->arguments = invocation->normalised;
}

static int tool_check_arguments(const struct invocation *invocation, struct error *err)
{
    struct misfits misfits = {.whole = "the call", .prefix = ""};

    schema_validate(tool_input_schema(invocation->entry), invocation->arguments, misfits_on_problem,
                    &misfits);
    return misfits_tell(&misfits, "arguments do not fit", err);
}

/* Calls */

static int tool_prepare_call(struct invocation *invocation, const struct registry *registry,
                             const char *name, struct error *err)
{
    const struct tool *tool;

    if (!invocation_find(invocation, registry, REGISTRY_TOOLS, name))
        return error_set(err, ERROR_UNKNOWN_TOOL, "%.*s", NAME_SHOWN_BYTES, name);
    tool = tool_of(invocation->entry);
    if (tool->count && !tool->count(tool))
        return 0;
    tool_normalise(invocation);
    return tool_check_arguments(invocation, err);
}

int tool_prepare(struct invocation *invocation, const struct registry *registry, const char *name,
                 struct error *err)
{
    if (tool_prepare_call(invocation, registry, name, err) == 0)
        return 0;
    account_refuse(invocation, name, err);
    return -1;
}
