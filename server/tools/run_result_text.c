#include "server/tools/run_result_text.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/visible.h"
#include "server/tools/run_output.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILES_SHOWN = 20,
    PATH_SHOWN_BYTES = 200,
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

/* Ends a sentence whose last part is ERROR: printed text of a tool stays as it is. */
static void result_text_end_sentence(struct buffer *text, const char *error)
{
    size_t length = strlen(error);
    bool is_output = strchr(error, '\n');

    if (!is_output && length > 0 && !strchr(".!?\n", error[length - 1]))
        result_text_add_string(text, ".");
    result_text_end_line(text);
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
    result_text_end_sentence(text, error);
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
    if (json_string_length(out) == 0 && json_string_length(err) == 0)
        result_text_add_string(text,
                               "(none: the script printed nothing; print() what you want to see)");
    if (json_string_length(err) == 0)
        return;
    result_text_end_line(text);
    result_text_add_string(text, "Error output:\n");
    result_text_add(text, json_string_value(err), json_string_length(err));
}

/* Where the rest of a stream is, NAME in words, that has BYTES. */
static void result_text_add_rest(struct buffer *text, const struct run_output_stream *stream,
                                 const char *name, uint64_t bytes)
{
    AUTO_FREE char *size = quantity_bytes(bytes);
    AUTO_FREE char *line = NULL;

    if (!stream->is_cut)
        return;
    line = stream->file
               ? memory_format("Left out: the middle of the %s, which has %s. %s is in %s.\n", name,
                               size, stream->is_whole ? "The whole" : "What was kept of it",
                               stream->file)
               : memory_format("Left out: the middle of the %s, which has %s. It could not be put "
                               "into a file (%s): let the script write to one.\n",
                               name, size, stream->obstacle);
    result_text_end_line(text);
    result_text_add_string(text, line);
}

static void result_text_add_rests(struct buffer *text, const struct run_output *output,
                                  const json_t *structured)
{
    const json_t *out = json_object_get(structured, "stdout_bytes");
    const json_t *err = json_object_get(structured, "stderr_bytes");

    result_text_add_rest(text, &output->streams[PROCESS_STDOUT], "output",
                         (uint64_t)json_integer_value(out));
    result_text_add_rest(text, &output->streams[PROCESS_STDERR], "error output",
                         (uint64_t)json_integer_value(err));
}

static void result_text_add_hints(struct buffer *text, const json_t *hints)
{
    const json_t *hint;
    size_t i;

    json_array_foreach (hints, i, hint) {
        result_text_end_line(text);
        result_text_add_string(text, json_string_value(hint));
        result_text_end_line(text);
    }
}

/* A script chooses names, which may be long and have controls and newlines. */
static void result_text_add_path(struct buffer *text, const char *path)
{
    AUTO_FREE char *line = visible_line(path, strlen(path), PATH_SHOWN_BYTES);

    result_text_add_string(text, line);
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
        result_text_add_path(text, json_object_get_string(file, "path"));
        result_text_add_string(text, " (");
        result_text_add_string(text, size);
        result_text_add_string(text, ")");
    }
    if (count > FILES_SHOWN)
        result_text_add_string(text, ", ...");
}

static void result_text_add_incompleteness(struct buffer *text, const json_t *structured)
{
    if (!json_is_false(json_object_get(structured, "files_complete")))
        return;
    result_text_end_line(text);
    result_text_add_string(text, "More files may have changed: not all could be listed. Look for "
                                 "those you need with a script.");
}

static void result_text_add_handle(struct buffer *text, const char *handle)
{
    AUTO_FREE char *line = NULL;

    if (!handle)
        return;
    line = memory_format("To go on with these files, pass working_directory: \"%s\".\n", handle);
    result_text_end_line(text);
    result_text_add_string(text, line);
}

static size_t result_text_limit(const json_t *structured)
{
    return string_length(structured, "stdout") + string_length(structured, "stderr") +
           TEXT_EXTRA_BYTES;
}

json_t *run_result_text(const json_t *structured, const struct run_output *output,
                        const json_t *hints, const char *handle)
{
    struct buffer text;
    json_t *string;

    buffer_init(&text, result_text_limit(structured));
    result_text_add_error(&text, structured);
    if (!json_is_null(json_object_get(structured, "returncode"))) {
        result_text_add_exit_code(&text, structured);
        result_text_add_output(&text, structured);
        result_text_add_rests(&text, output, structured);
        result_text_add_hints(&text, hints);
        result_text_add_files(&text, structured);
        result_text_add_incompleteness(&text, structured);
        result_text_add_handle(&text, handle);
    }
    string = json_string_repaired(buffer_bytes(&text), buffer_length(&text));
    buffer_deinit(&text);
    return string;
}
