#include "server/tools/python/many_text.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "server/tools/answer/output_budget.h"
#include "server/tools/plain_text.h"

#include <string.h>

enum {
    MANY_TEXT_BYTES = 1 << 20, /* more than all of it can be */
    MANY_OUTPUT_CHARACTERS = 8000,
    MANY_LEAST_CHARACTERS = 20,    /* of each output */
    MANY_OUTPUT_BYTES = 32 * 1024, /* of each output that are looked at */
};

static size_t many_text_count_failures(const json_t *entries)
{
    size_t failures = 0;
    const json_t *entry;
    size_t i;

    json_array_foreach (entries, i, entry)
        failures += !json_is_true(json_object_get(entry, "success"));
    return failures;
}

/* Indentation of further lines keeps outputs apart, whatever a program prints. */
static void many_text_append_lines(struct buffer *text, const char *lines, size_t length)
{
    const char *end = lines + length;
    const char *newline;

    for (; (newline = memchr(lines, '\n', (size_t)(end - lines))); lines = newline + 1)
        buffer_print(text, "%.*s\n    ", (int)(newline - lines), lines);
    buffer_print(text, "%.*s\n", (int)(end - lines), lines);
}

/* OUTPUT as text to read, cut to SHARE characters. */
static void many_text_append_output(struct buffer *text, const char *output, size_t length,
                                    size_t share)
{
    size_t untold;
    size_t cut_length;
    const size_t seen =
        length > MANY_OUTPUT_BYTES ? utf8_boundary_before(output, MANY_OUTPUT_BYTES) : length;
    AUTO_FREE char *clean = plain_text_clean(output, seen, &length, &untold);
    AUTO_FREE char *cut = output_budget_cut(OUTPUT_OUT, clean, length, share, &cut_length);
    const char *shown = cut ? cut : clean;

    length = cut ? cut_length : length;
    while (length > 0 && shown[length - 1] == '\n')
        length--;
    many_text_append_lines(text, shown, length);
}

/* The last line of the error output ERRORS, which names the exception. */
static void many_text_append_exception(struct buffer *text, const json_t *errors, size_t share)
{
    const char *begin = json_string_value(errors);
    size_t length = json_string_length(errors);
    const char *line;

    while (length > 0 && begin[length - 1] == '\n')
        length--;
    line = length > 0 ? memrchr(begin, '\n', length) : NULL;
    line = line ? line + 1 : begin;
    many_text_append_output(text, line, (size_t)(begin + length - line), share);
}

static void many_text_append_failure(struct buffer *text, const char *error, const json_t *errors,
                                     size_t share)
{
    buffer_print(text, "failed: ");
    if (error)
        many_text_append_output(text, error, strlen(error), share);
    else
        many_text_append_exception(text, errors, share);
}

static void many_text_append_entry(struct buffer *text, size_t index, const json_t *entry,
                                   size_t share)
{
    const json_t *result = json_object_get(entry, "result");
    const json_t *output = json_object_get(result, "stdout");
    const char *error = json_object_get_string(entry, "error");

    error = error ? error : json_object_get_string(result, "error");
    buffer_print(text, "%zu: ", index);
    if (json_is_true(json_object_get(entry, "success")))
        many_text_append_output(text, json_string_value(output), json_string_length(output), share);
    else
        many_text_append_failure(text, error, json_object_get(result, "stderr"), share);
}

char *many_text(const json_t *entries, const char *failure, size_t at)
{
    const size_t count = json_array_size(entries);
    const size_t failures = many_text_count_failures(entries);
    const size_t share = MANY_LEAST_CHARACTERS + MANY_OUTPUT_CHARACTERS / count;
    const json_t *entry;
    struct buffer text;
    char *ret;
    size_t i;

    buffer_init(&text, MANY_TEXT_BYTES);
    buffer_print(&text, "%zu runs: %zu succeeded, %zu failed.\n", count, count - failures,
                 failures);
    if (failure)
        buffer_print(&text, "\nRun %zu has failed:\n%s\n", at, failure);
    buffer_print(&text, "\nThe output of each run:\n");
    json_array_foreach (entries, i, entry)
        many_text_append_entry(&text, i, entry, share);
    ret = memory_format("%.*s", (int)buffer_length(&text) - 1, buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}
