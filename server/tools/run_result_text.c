#include "server/tools/run_result_text.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILES_SHOWN = 20,
    TEXT_EXTRA_BYTES = 256 * 1024, /* for the text besides the output */
};

static size_t string_length(const json_t *structured, const char *key)
{
    return json_string_length(json_object_get(structured, key));
}

/* Cannot fail: the limit of TEXT is large enough. */
static void result_text_add(struct buffer *text, const char *bytes, size_t length)
{
    struct error ignored = ERROR_INIT;

    (void)buffer_append(text, bytes, length, &ignored);
}

static void result_text_add_string(struct buffer *text, const char *string)
{
    result_text_add(text, string, strlen(string));
}

/* Begins a new line, unless TEXT is at the start of one. */
static void result_text_end_line(struct buffer *text)
{
    size_t length = buffer_length(text);

    if (length > 0 && buffer_bytes(text)[length - 1] != '\n')
        result_text_add(text, "\n", 1);
}

static void result_text_add_error(struct buffer *text, const json_t *structured)
{
    const char *error = json_object_get_string(structured, "error");

    if (!error)
        return;
    result_text_add_string(text, json_is_null(json_object_get(structured, "returncode"))
                                     ? "The run failed: "
                                     : "The script ");
    result_text_add_string(text, error);
    result_text_add_string(text, ".\n");
}

static void result_text_add_exit_code(struct buffer *text, const json_t *structured)
{
    const json_t *code = json_object_get(structured, "returncode");
    bool success = json_is_true(json_object_get(structured, "success"));
    AUTO_FREE char *line =
        memory_format("exitcode: %" JSON_INTEGER_FORMAT " (execution %s)\n",
                      json_integer_value(code), success ? "succeeded" : "failed");

    result_text_add_string(text, line);
}

static void result_text_add_output(struct buffer *text, const json_t *structured)
{
    const json_t *out = json_object_get(structured, "stdout");
    const json_t *err = json_object_get(structured, "stderr");

    result_text_add_string(text, "Code output: ");
    result_text_add(text, json_string_value(out), json_string_length(out));
    if (json_string_length(err) == 0)
        return;
    result_text_end_line(text);
    result_text_add_string(text, "Error output:\n");
    result_text_add(text, json_string_value(err), json_string_length(err));
}

/* Hints. A new one is a function, a line in the table, and a case in test_run_result_text.c. */

static char *hint_empty(const json_t *structured)
{
    if (string_length(structured, "stdout") || string_length(structured, "stderr"))
        return NULL;
    if (!json_is_true(json_object_get(structured, "success")))
        return memory_copy_string("(none: the script printed nothing)");
    return memory_copy_string("(none: the script printed nothing. The value of a bare expression "
                              "on the last line is not shown; if that was what you wanted to see, "
                              "print() it)");
}

static char *hint_truncated(const json_t *structured)
{
    json_t *out = json_object_get(structured, "stdout_bytes");
    json_t *err = json_object_get(structured, "stderr_bytes");

    if (!json_is_true(json_object_get(structured, "truncated")))
        return NULL;
    return memory_format(
        "Only the beginning and the end of the output are shown; it has %" JSON_INTEGER_FORMAT
        " bytes, the error output %" JSON_INTEGER_FORMAT ".",
        json_integer_value(out), json_integer_value(err));
}

/* Python's words, by errno, when a script was about to change the file that it runs from. */
static char *hint_own_file(const json_t *structured)
{
    const char *errors = json_object_get_string(structured, "stderr");

    if (!errors || !strstr(errors, "script.py'") ||
        (!strstr(errors, "[Errno 16] ") && !strstr(errors, "[Errno 30] ")))
        return NULL;
    return memory_copy_string("script.py is the program that runs: it cannot be changed, renamed "
                              "or removed. Use another name, and leave it out when you clean up.");
}

static const struct hint {
    char *(*say)(const json_t *structured); /* owned by the caller; NULL: it does not apply */
    bool has_own_line;
} hints[] = {
    {hint_empty, false}, /* instead of the output */
    {hint_truncated, true},
    {hint_own_file, true},
};

static void result_text_add_hint(struct buffer *text, const struct hint *hint,
                                 const json_t *structured)
{
    AUTO_FREE char *said = hint->say(structured);

    if (!said)
        return;
    if (hint->has_own_line)
        result_text_end_line(text);
    result_text_add_string(text, said);
    if (hint->has_own_line)
        result_text_end_line(text);
}

static void result_text_add_files(struct buffer *text, const json_t *structured)
{
    const json_t *files = json_object_get(structured, "files");
    size_t count = json_array_size(files);
    const json_t *file;
    size_t i;

    if (count == 0)
        return;
    result_text_end_line(text);
    result_text_add_string(text, "Files created or changed:");
    json_array_foreach (files, i, file) {
        AUTO_FREE char *size =
            quantity_bytes((uint64_t)json_integer_value(json_object_get(file, "size")));

        if (i == FILES_SHOWN)
            break;
        result_text_add_string(text, i == 0 ? " " : ", ");
        result_text_add_string(text, json_object_get_string(file, "path"));
        result_text_add_string(text, " (");
        result_text_add_string(text, size);
        result_text_add_string(text, ")");
    }
    if (count > FILES_SHOWN)
        result_text_add_string(text, ", ...");
}

static size_t result_text_limit(const json_t *structured)
{
    return string_length(structured, "stdout") + string_length(structured, "stderr") +
           TEXT_EXTRA_BYTES;
}

json_t *run_result_text(const json_t *structured)
{
    struct buffer text;
    json_t *string;

    buffer_init(&text, result_text_limit(structured));
    result_text_add_error(&text, structured);
    if (!json_is_null(json_object_get(structured, "returncode"))) {
        result_text_add_exit_code(&text, structured);
        result_text_add_output(&text, structured);
        for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
            result_text_add_hint(&text, &hints[i], structured);
        result_text_add_files(&text, structured);
    }
    string = json_string_repaired(buffer_bytes(&text), buffer_length(&text));
    buffer_deinit(&text);
    return string;
}
