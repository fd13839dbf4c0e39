#include "environments/packages/tool.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/printable.h"
#include "environments/process/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    OUTPUT_BYTES = 64 * 1024,
    LINE_BYTES = 400,  /* of a line; what is longer is cut */
    LAST_BYTES = 1200, /* of the last lines, for an error */
};

/* A build of packages takes a compiler's memory, and more files than a script. */
static const struct process_limits limits = {
    .memory = 4ULL << 30,
    .processes = 1024,
    .file_size = 8ULL << 30,
};

/* The line that a stream is in the middle of. */
struct line {
    char text[LINE_BYTES + 1];
    size_t length;
};

struct tool {
    struct tool_settings settings; /* without what is only borrowed for a moment, instead: */
    char *name;                    /* owned */
    struct process process;
    struct buffer output;
    struct line lines[PROCESS_STREAMS];
    char last[LAST_BYTES + 1]; /* lines, each with its end */
    size_t last_length;
};

static void tool_free(struct tool *tool)
{
    buffer_deinit(&tool->output);
    free(tool->name);
    free(tool);
}

/* Keeps LINE as the last one, instead of the oldest. */
static void remember(struct tool *tool, const char *line)
{
    size_t length = strlen(line) + 1;
    size_t dropped = 0;

    while (tool->last_length - dropped + length > LAST_BYTES) {
        const char *end = memchr(tool->last + dropped, '\n', tool->last_length - dropped);

        dropped = (size_t)(end + 1 - tool->last);
    }
    tool->last_length -= dropped;
    memmove(tool->last, tool->last + dropped, tool->last_length);
    memcpy(tool->last + tool->last_length, line, length - 1);
    tool->last[tool->last_length + length - 1] = '\n';
    tool->last_length += length;
}

static void end_line(struct tool *tool, struct line *line)
{
    while (line->length > 0 && strchr(" \t", line->text[line->length - 1]))
        line->length--;
    line->text[line->length] = '\0';
    line->length = 0;
    if (!*line->text)
        return;
    printable_clean(line->text);
    remember(tool, line->text);
    if (tool->settings.said)
        tool->settings.said(tool->settings.data, line->text);
}

static void on_output(struct process *process, enum process_stream stream, const char *data,
                      size_t length)
{
    struct tool *tool = CONTAINER_OF(process, struct tool, process);
    struct line *line = &tool->lines[stream];
    struct error ignored = ERROR_INIT; /* what is much is not read */

    if (stream == PROCESS_STDOUT)
        (void)buffer_append(&tool->output, data, length, &ignored);
    for (size_t i = 0; i < length; i++)
        if (data[i] == '\n' || data[i] == '\r')
            end_line(tool, line);
        else if (line->length < LINE_BYTES && data[i])
            line->text[line->length++] = data[i];
}

/* Behind how it ended, what it said last. */
static int fail(const struct tool *tool, struct error *err, const char *how, int number)
{
    int length = (int)tool->last_length;

    if (length == 0)
        return error_set(err, ERROR_UNAVAILABLE, "%s %s %d and said nothing", tool->name, how,
                         number);
    return error_set(err, ERROR_UNAVAILABLE, "%s %s %d:\n%.*s", tool->name, how, number, length - 1,
                     tool->last);
}

static int judge(const struct tool *tool, const struct process_end *end, struct error *err)
{
    if (end->failure[0])
        return error_set(err, ERROR_UNAVAILABLE, "cannot start %s: %s", tool->name, end->failure);
    if (end->out_of_memory)
        return error_set(err, ERROR_LIMIT, "%s needs more memory than it may have", tool->name);
    if (!end->reported)
        return error_set(err, ERROR_SYSTEM, "%s was killed", tool->name);
    if (WIFSIGNALED(end->wait_status))
        return fail(tool, err, "was killed by signal", WTERMSIG(end->wait_status));
    if (WEXITSTATUS(end->wait_status) != 0)
        return fail(tool, err, "ended with exit status", WEXITSTATUS(end->wait_status));
    return 0;
}

static void on_ended(struct process *process, const struct process_end *end)
{
    struct tool *tool = CONTAINER_OF(process, struct tool, process);
    struct error err = ERROR_INIT;
    AUTO_FREE char *output = NULL;
    int ret;

    for (int i = 0; i < PROCESS_STREAMS; i++)
        end_line(tool, &tool->lines[i]);
    ret = judge(tool, end, &err);
    output = memory_format("%.*s", (int)buffer_length(&tool->output),
                           buffer_length(&tool->output) ? buffer_bytes(&tool->output) : "");
    tool->settings.ended(tool->settings.data, output, ret < 0 ? &err : NULL);
    tool_free(tool);
}

struct tool *tool_start(const struct tool_settings *settings, struct error *err)
{
    struct tool *tool = NEW(struct tool);
    const struct process_command command = {
        .arguments = settings->arguments,
        .environment = settings->variables,
        .directory = settings->directory,
        .limits = limits,
    };

    tool->settings = *settings;
    tool->name = memory_copy_string(settings->name);
    tool->process.output = on_output;
    tool->process.ended = on_ended;
    buffer_init(&tool->output, OUTPUT_BYTES);
    if (process_start(settings->host, &tool->process, &command, err) == 0)
        return tool;
    error_prefix(err, "cannot start %s", settings->name);
    tool_free(tool);
    return NULL;
}

void tool_kill(struct tool *tool)
{
    process_kill(&tool->process);
}
