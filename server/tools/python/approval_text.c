#include "server/tools/python/approval_text.h"

#include "base/buffer.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/visible.h"
#include "environments/catalog/extension.h"
#include "environments/environment.h"
#include "server/tools/python/approval_form.h"
#include "server/tools/python/code_listing.h"

#include <stdlib.h>
#include <string.h>

enum {
    FACT_BYTES = 2000, /* of one line; only a definition in a call can be that long */
    TEXT_BYTES = 5 * LISTING_ROOM_BYTES, /* enough for four listings and the other lines */
};

/* FACT may contain any characters from a configuration or a call. */
static void append_fact(struct buffer *text, const char *fact)
{
    AUTO_FREE char *line = visible_line(fact, strlen(fact), FACT_BYTES);

    buffer_print(text, "- %s\n", line);
}

static void append_reach(struct buffer *text, const struct environment *environment)
{
    AUTO_JSON json_t *lines = environment->ops->reach(environment);
    const json_t *line;
    size_t i;

    json_array_foreach (lines, i, line)
        append_fact(text, json_string_value(line));
}

static void append_limits(struct buffer *text, const struct approval_subject *subject)
{
    const struct environment_settings *settings = &subject->environment->settings;
    AUTO_FREE char *seconds = quantity_seconds(subject->timeout);
    AUTO_FREE char *memory = quantity_bytes(settings->limits.memory);
    AUTO_FREE char *disk = quantity_bytes(settings->disk);

    buffer_print(text, "- Limits: %s, %s of memory, %u processes and threads, %s of new files\n",
                 seconds, memory, settings->limits.processes, disk);
}

static void approval_text_digest(const char *bytes, size_t length, char ret[DIGEST_TEXT_BYTES])
{
    struct digest digest;

    digest_init(&digest);
    digest_add(&digest, bytes, length);
    digest_finish(&digest, ret);
}

static void append_size(struct buffer *text, const struct approval_subject *subject, size_t lines)
{
    char hash[DIGEST_TEXT_BYTES];

    approval_text_digest(subject->code, subject->length, hash);
    buffer_print(text, "- Code: %zu line%s, %zu bytes, SHA-256 %s\n", lines, lines == 1 ? "" : "s",
                 subject->length, hash);
}

/* Owned by the caller. */
static char *approval_text_name(const struct approval_subject *subject)
{
    const json_t *extending = extension_written(subject->environment);

    if (extending)
        return memory_format("%s of the configuration, with packages of the caller's",
                             json_object_get_string(extending, EXTENSION_KEY));
    return memory_copy_string(subject->definition ? "defined by this call"
                                                  : subject->environment->name);
}

/* The servers whose tools the code may call. */
static void append_tools(struct buffer *text, const json_t *tools)
{
    const char *server;
    json_t *list;

    if (json_object_size(tools) == 0)
        return;
    buffer_print(text, "- Tools that it may call:");
    json_object_foreach ((json_t *)tools, server, list) {
        buffer_print(text, " %s", server);
        if (json_array_size(list) > 0)
            buffer_print(text, " (%zu)", json_array_size(list));
    }
    buffer_print(text, "\n");
}

static void append_facts(struct buffer *text, const struct approval_subject *subject)
{
    const struct environment *environment = subject->environment;
    AUTO_FREE char *directory = memory_format("Working directory: %s", subject->directory);
    AUTO_FREE char *name = approval_text_name(subject);

    buffer_print(text, "- Environment: %s (%s)\n", name, environment->ops->kind->name);
    append_reach(text, environment);
    append_fact(text, directory);
    if (subject->session)
        append_fact(text, subject->session);
    append_tools(text, subject->tools);
    append_limits(text, subject);
}

static void append_foreseen(struct buffer *text, const json_t *foreseen)
{
    const json_t *tool;
    size_t i;

    if (json_array_size(foreseen) == 0)
        return;
    buffer_print(text, "\nYes: it may also call these tools, with any arguments:\n\n");
    json_array_foreach (foreseen, i, tool)
        append_fact(text, json_string_value(tool));
}

/* A definition may have more members than the lines above show, so it is shown completely. */
static void append_definition(struct buffer *text, const json_t *definition)
{
    AUTO_FREE char *json = json_dumps(definition, JSON_INDENT(2) | JSON_SORT_KEYS);

    buffer_print(text, "\nThe call defines its environment so:\n\n");
    code_listing_append(text, json, strlen(json));
}

/* One on each line. A cell with more than a listing shows whole is refused (code/pip_line.c). */
static void approval_text_add_packages(struct buffer *text, const json_t *packages)
{
    struct buffer lines;
    const json_t *package;
    size_t i;

    buffer_init(&lines, TEXT_BYTES);
    json_array_foreach (packages, i, package)
        buffer_print(&lines, "%s\n", json_string_value(package));
    buffer_print(text, "\nPackages that are installed for the session first:\n\n");
    code_listing_append(text, buffer_bytes(&lines), buffer_length(&lines));
    buffer_deinit(&lines);
}

/* A script can import them, so they are shown like code. */
static void append_files(struct buffer *text, const json_t *files)
{
    AUTO_FREE char *json = json_dumps(files, JSON_INDENT(2));
    size_t length = strlen(json);
    size_t left_out = code_listing_measure(json, length).left_out;
    char hash[DIGEST_TEXT_BYTES];

    approval_text_digest(json, length, hash);
    buffer_print(text, "\nFiles that the call puts there first, SHA-256 %s", hash);
    if (left_out > 0)
        buffer_print(text, ", %zu bytes of them left out here", left_out);
    buffer_print(text, ":\n\n");
    code_listing_append(text, json, length);
}

static void append_code(struct buffer *text, const struct approval_subject *subject,
                        size_t left_out)
{
    if (left_out > 0)
        buffer_print(
            text,
            "\nThe code is too long to be shown: %zu bytes are left out. All below is code.\n\n",
            left_out);
    else
        buffer_print(text, "\nThe whole code; all below is code.\n\n");
    code_listing_append(text, subject->code, subject->length);
}

/* A stricter policy is a larger number. */
enum approval_policy approval_subject_policy(const struct approval_subject *subject)
{
    const enum approval_policy own = subject->environment->settings.approval;

    if (json_array_size(subject->foreseen) > 0)
        return APPROVAL_ALWAYS;
    return own > subject->least ? own : subject->least;
}

char *approval_text(const struct approval_subject *subject)
{
    const struct code_listing listing = code_listing_measure(subject->code, subject->length);
    const enum approval_policy policy = approval_subject_policy(subject);
    struct buffer text;
    char *ret;

    buffer_init(&text, TEXT_BYTES);
    buffer_print(&text, "Run this Python code? %s\n\n", approval_form_advice(policy));
    append_facts(&text, subject);
    append_size(&text, subject, listing.lines);
    if (policy == APPROVAL_FIRST)
        buffer_print(&text, "\nYes: later calls of this client in this environment run without a "
                            "question. Once: they are asked about again.\n");
    append_foreseen(&text, subject->foreseen);
    if (subject->definition)
        append_definition(&text, subject->definition);
    if (subject->packages)
        approval_text_add_packages(&text, subject->packages);
    if (subject->files)
        append_files(&text, subject->files);
    append_code(&text, subject, listing.left_out);
    ret = memory_format("%.*s", (int)buffer_length(&text), buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}
