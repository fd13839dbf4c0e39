#include "server/tools/prompt.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN_BYTES = 64 };

struct prompt_entry {
    struct registry_entry entry;
    struct prompt prompt; /* its strings and JSON: owned */
};

const struct prompt *prompt_of(const struct registry_entry *entry)
{
    return &CONTAINER_OF(entry, struct prompt_entry, entry)->prompt;
}

static void prompt_entry_free(struct registry_entry *entry)
{
    struct prompt_entry *prompt_entry = CONTAINER_OF(entry, struct prompt_entry, entry);
    struct prompt *prompt = &prompt_entry->prompt;

    for (struct prompt_argument *argument = prompt->arguments; argument->name; argument++) {
        free((char *)argument->description);
        free((char *)argument->title);
        free((char *)argument->name);
    }
    json_decref(prompt->icons);
    free((char *)prompt->description);
    free((char *)prompt->title);
    free((char *)prompt->name);
    free(prompt_entry);
}

static struct prompt_entry *prompt_entry_new(const struct prompt *source)
{
    struct prompt_entry *prompt_entry = NEW(struct prompt_entry);
    struct prompt *prompt = &prompt_entry->prompt;

    *prompt = *source;
    prompt->name = memory_copy_string(text_or_none(source->name));
    prompt->title = entry_copy_text(source->title);
    prompt->description = entry_copy_text(source->description);
    for (struct prompt_argument *argument = prompt->arguments; argument->name; argument++) {
        argument->name = entry_copy_text(argument->name);
        argument->title = entry_copy_text(argument->title);
        argument->description = entry_copy_text(argument->description);
    }
    prompt_entry->entry = (struct registry_entry){
        .kind = REGISTRY_PROMPTS,
        .key = prompt->name,
        .data = prompt->data,
        .start = prompt->start,
        .cancel = prompt->cancel,
        .free = prompt_entry_free,
    };
    return prompt_entry;
}

static int prompt_check_texts(const struct prompt *prompt, struct error *err)
{
    if (entry_check_text(prompt->title, err) < 0 || entry_check_text(prompt->description, err) < 0)
        return -1;
    for (const struct prompt_argument *argument = prompt->arguments; argument->name; argument++) {
        if (entry_check_name("argument", argument->name, err) < 0 ||
            entry_check_text(argument->title, err) < 0 ||
            entry_check_text(argument->description, err) < 0)
            return -1;
    }
    return 0;
}

static int check_prompt(const struct prompt *prompt, struct error *err)
{
    if (entry_check_name("prompt", prompt->name, err) < 0)
        return -1;
    if (prompt_check_texts(prompt, err) < 0)
        return error_prefix(err, "prompt %s", prompt->name);
    return 0;
}

int prompt_register(struct registry *registry, const struct prompt *prompt, struct error *err)
{
    struct prompt_entry *prompt_entry = prompt_entry_new(prompt);

    if (check_prompt(&prompt_entry->prompt, err) == 0) {
        if (registry_add(registry, &prompt_entry->entry, err) == 0)
            return 0;
        error_prefix(err, "prompt");
    }
    prompt_entry_free(&prompt_entry->entry);
    return -1;
}

static int prompt_check_arguments(const struct invocation *invocation, struct error *err)
{
    const struct prompt *prompt = prompt_of(invocation->entry);
    const char *key;
    json_t *value;

    json_object_foreach (invocation->arguments, key, value) {
        if (!json_is_string(value))
            return error_set(err, ERROR_INVALID_PARAMS, "argument %.*s must be a string, not %s",
                             NAME_SHOWN_BYTES, key, json_type_name(value));
    }
    for (const struct prompt_argument *argument = prompt->arguments; argument->name; argument++) {
        if (argument->required && !json_object_get(invocation->arguments, argument->name))
            return error_set(err, ERROR_INVALID_PARAMS, "prompt %s needs the argument %s",
                             prompt->name, argument->name);
    }
    return 0;
}

int prompt_prepare(struct invocation *invocation, const struct registry *registry, const char *name,
                   struct error *err)
{
    if (!invocation_find(invocation, registry, REGISTRY_PROMPTS, name))
        return error_set(err, ERROR_INVALID_PARAMS, "there is no prompt \"%.*s\"", NAME_SHOWN_BYTES,
                         name);
    return prompt_check_arguments(invocation, err);
}

void prompt_add_message(struct invocation *invocation, const char *role, json_t *content)
{
    if (!invocation->result.content)
        invocation->result.content = json_array();
    json_array_append_new(invocation->result.content,
                          json_pack("{s:s, s:o}", "role", role, "content", content));
}

void prompt_add_text(struct invocation *invocation, const char *role, const char *text)
{
    prompt_add_message(
        invocation, role,
        json_pack("{s:s, s:o}", "type", "text", "text", json_string_repaired(text, strlen(text))));
}
