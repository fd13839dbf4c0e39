#include "server/tools/answer/run_result_text.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/visible.h"
#include "server/tools/answer/run_output.h"
#include "server/tools/hints/run_facts.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILES_SHOWN = 20,
    PATH_SHOWN_BYTES = 200,
    TEXT_EXTRA_BYTES = 256 * 1024, /* for the text besides the output */
};

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

static void result_text_add_error(struct buffer *text, const struct run_facts *facts)
{
    if (!facts->error)
        return;
    result_text_add_string(text, facts->has_returncode ? "The script " : "The run failed: ");
    result_text_add_string(text, facts->error);
    result_text_end_sentence(text, facts->error);
}

static void result_text_add_exit_code(struct buffer *text, const struct run_facts *facts)
{
    AUTO_FREE char *line = memory_format("exitcode: %d (execution %s)\n", facts->returncode,
                                         facts->is_success ? "succeeded" : "failed");

    result_text_add_string(text, line);
}

static void result_text_add_output(struct buffer *text, const struct run_output *output)
{
    const struct run_output_stream *out = &output->streams[PROCESS_STDOUT];
    const struct run_output_stream *err = &output->streams[PROCESS_STDERR];

    result_text_add_string(text, "Code output: ");
    result_text_add(text, out->text, out->length);
    if (out->length == 0 && err->length == 0)
        result_text_add_string(text,
                               "(none: the script printed nothing; print() what you want to see)");
    if (err->length == 0)
        return;
    result_text_end_line(text);
    result_text_add_string(text, "Error output:\n");
    result_text_add(text, err->text, err->length);
}

/* The part of the stream NAME, of BYTES, that is left out. Owned by the caller. */
static char *result_text_lack(const struct run_output_stream *stream, const char *name,
                              uint64_t bytes)
{
    AUTO_FREE char *size = quantity_bytes(bytes);

    if (stream->is_cut)
        return memory_format("the middle of the %s, which has %s", name, size);
    return memory_format("%zu states of lines that were written over, in the %s", stream->untold,
                         name);
}

/* Where the rest of the stream NAME is, which has BYTES. */
static void result_text_add_rest(struct buffer *text, const struct run_output_stream *stream,
                                 const char *name, uint64_t bytes, bool is_whole)
{
    AUTO_FREE char *lack = NULL;
    AUTO_FREE char *line = NULL;

    if (!stream->is_cut && stream->untold == 0)
        return;
    lack = result_text_lack(stream, name, bytes);
    line = stream->file
               ? memory_format("Left out: %s. %s is in %s.\n", lack,
                               is_whole ? "The whole" : "What was kept of it", stream->file)
               : memory_format("Left out: %s. It could not be put into a file (%s): let the script "
                               "write to one.\n",
                               lack, stream->obstacle);
    result_text_end_line(text);
    result_text_add_string(text, line);
}

static void result_text_add_rests(struct buffer *text, const struct run_facts *facts,
                                  const struct run_output *output)
{
    static const char *const names[PROCESS_STREAMS] = {"output", "error output"};

    for (int i = 0; i < PROCESS_STREAMS; i++)
        result_text_add_rest(text, &output->streams[i], names[i], facts->report->streams[i].total,
                             !facts->is_truncated);
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

/* A coding agent believes that files are in its project, unless it reads where they are. */
static void result_text_add_place(struct buffer *text, const char *directory)
{
    AUTO_FREE char *shown = visible_line(directory, strlen(directory), strlen(directory));

    result_text_add_string(text, " in ");
    result_text_add_string(text, shown);
    result_text_add_string(text, ", not in the project");
}

static void result_text_add_files(struct buffer *text, const json_t *files, const char *directory)
{
    size_t count = json_array_size(files);
    const json_t *file;
    size_t i;

    if (count == 0)
        return;
    result_text_end_line(text);
    result_text_add_string(text, "Files created or changed");
    if (directory)
        result_text_add_place(text, directory);
    result_text_add_string(text, ":");
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

static void result_text_add_incompleteness(struct buffer *text, const struct run_report *report)
{
    if (report->files_are_complete)
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

static size_t result_text_limit(const struct run_output *output)
{
    return output->streams[PROCESS_STDOUT].length + output->streams[PROCESS_STDERR].length +
           TEXT_EXTRA_BYTES;
}

/* A run whose machine was lost has printed and made something, too. */
static bool result_text_has_begun(const struct run_facts *facts, const struct run_output *output)
{
    return facts->has_returncode || output->streams[PROCESS_STDOUT].length > 0 ||
           output->streams[PROCESS_STDERR].length > 0 || json_array_size(facts->files) > 0;
}

json_t *run_result_text(const struct run_facts *facts, const struct run_output *output,
                        const json_t *hints, const char *handle, const char *path)
{
    struct buffer text;
    json_t *string;

    buffer_init(&text, result_text_limit(output));
    result_text_add_error(&text, facts);
    if (facts->has_returncode)
        result_text_add_exit_code(&text, facts);
    if (result_text_has_begun(facts, output)) {
        result_text_add_output(&text, output);
        result_text_add_rests(&text, facts, output);
        result_text_add_hints(&text, hints);
        result_text_add_files(&text, facts->files, path);
        result_text_add_incompleteness(&text, facts->report);
        result_text_add_handle(&text, handle);
    }
    string = json_string_repaired(buffer_bytes(&text), buffer_length(&text));
    buffer_deinit(&text);
    return string;
}
