#include "server/tools/answer/run_output.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/workplace/directory_deposit.h"
#include "server/tools/answer/output_budget.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/plain_text.h"

#include <stdlib.h>
#include <string.h>

static const struct run_output_kind {
    const char *stem; /* of its file */
    enum output_part part;
} run_output_kinds[PROCESS_STREAMS] = {
    [PROCESS_STDOUT] = {"output", OUTPUT_OUT},
    [PROCESS_STDERR] = {"error-output", OUTPUT_ERR},
};

static void run_output_read(struct run_output_stream *stream, const json_t *whole,
                            const char *directory)
{
    size_t clean_length;
    size_t shorter_length;
    AUTO_FREE char *clean = plain_text_clean(json_string_value(whole), json_string_length(whole),
                                             &clean_length, &stream->untold);
    AUTO_FREE char *shorter = plain_text_shorten(clean, clean_length, directory, &shorter_length);

    stream->text = plain_text_collapse(shorter, shorter_length, &stream->length);
}

static void run_output_cut(struct run_output_stream *stream, enum output_part part, size_t share)
{
    size_t length;
    char *cut = output_budget_cut(part, stream->text, stream->length, share, &length);

    if (!cut)
        return;
    free(stream->text);
    stream->text = cut;
    stream->length = length;
    stream->is_cut = true;
}

void run_output_init(struct run_output *output, const struct run_facts *facts,
                     const char *directory, size_t room)
{
    size_t characters[OUTPUT_PARTS];
    size_t shares[OUTPUT_PARTS];

    *output = (struct run_output){0};
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        struct run_output_stream *stream = &output->streams[i];

        run_output_read(stream, facts->streams[i], directory);
        characters[run_output_kinds[i].part] = output_budget_count(stream->text, stream->length);
    }
    output_budget_share(room, characters, shares);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        run_output_cut(&output->streams[i], run_output_kinds[i].part,
                       shares[run_output_kinds[i].part]);
}

void run_output_deinit(struct run_output *output)
{
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        free(output->streams[i].text);
        free(output->streams[i].file);
        free(output->streams[i].obstacle);
    }
    *output = (struct run_output){0};
}

static void run_output_keep_stream(struct run_output_stream *stream, const char *stem,
                                   struct run_facts *facts, const json_t *whole)
{
    struct error err = ERROR_INIT;
    size_t length = json_string_length(whole);

    stream->file =
        directory_deposit(facts->report->directory, stem, json_string_value(whole), length, &err);
    if (stream->file)
        json_array_append_new(facts->files,
                              json_pack("{s:s, s:I, s:s}", "path", stream->file, "size",
                                        (json_int_t)length, "mimeType", "text/plain"));
    else
        stream->obstacle = memory_copy_string(err.message);
}

void run_output_keep(struct run_output *output, struct run_facts *facts)
{
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        struct run_output_stream *stream = &output->streams[i];
        const struct capture *capture = &facts->report->streams[i];

        stream->is_cut |= capture->total > capture->limit;
        if (stream->is_cut || stream->untold > 0)
            run_output_keep_stream(stream, run_output_kinds[i].stem, facts, facts->streams[i]);
    }
}
