#include "environments/process/subprocess.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/process/last_lines.h"
#include "environments/process/process.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT_BYTES = 64 * 1024 };

/* A build of packages takes a compiler's memory, and more files than a script. */
static const struct process_limits limits = {
    .memory = 4ULL << 30,
    .processes = 1024,
    .file_size = 8ULL << 30,
};

struct subprocess {
    struct subprocess_settings settings; /* its strings may be gone */
    char *name;                          /* owned */
    struct process process;
    struct buffer output;
    struct last_lines lines;
};

static void subprocess_free(struct subprocess *tool)
{
    buffer_deinit(&tool->output);
    free(tool->name);
    free(tool);
}

static void subprocess_on_said(struct last_lines *lines, const char *line)
{
    struct subprocess *tool = CONTAINER_OF(lines, struct subprocess, lines);

    if (tool->settings.said)
        tool->settings.said(tool->settings.data, line);
}

static void subprocess_on_output(struct process *process, enum process_stream stream,
                                 const char *data, size_t length)
{
    struct subprocess *tool = CONTAINER_OF(process, struct subprocess, process);
    struct error ignored = ERROR_INIT; /* output beyond the limit is dropped */

    if (stream == PROCESS_STDOUT)
        (void)buffer_append(&tool->output, data, length, &ignored);
    last_lines_feed(&tool->lines, stream, data, length);
}

/* Sets ERR to the way the tool ended and its last lines. */
static int subprocess_fail(const struct subprocess *tool, struct error *err, const char *how,
                           int number)
{
    const char *said = tool->lines.kept;

    if (!*said)
        return error_set(err, ERROR_UNAVAILABLE, "%s %s %d and said nothing", tool->name, how,
                         number);
    return error_set(err, ERROR_UNAVAILABLE, "%s %s %d:\n%s", tool->name, how, number, said);
}

static int subprocess_judge(const struct subprocess *tool, const struct process_end *end,
                            struct error *err)
{
    if (end->failure[0])
        return error_set(err, ERROR_UNAVAILABLE, "cannot run %s: %s", tool->name, end->failure);
    if (end->out_of_memory)
        return error_set(err, ERROR_LIMIT, "%s needs more memory than it may have", tool->name);
    if (!end->reported)
        return error_set(err, ERROR_SYSTEM, "%s was killed", tool->name);
    if (end->returncode < 0)
        return subprocess_fail(tool, err, "was killed by signal", -end->returncode);
    if (end->returncode > 0)
        return subprocess_fail(tool, err, "ended with exit status", end->returncode);
    return 0;
}

static void subprocess_on_ended(struct process *process, const struct process_end *end)
{
    struct subprocess *tool = CONTAINER_OF(process, struct subprocess, process);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    AUTO_FREE char *output = NULL;
    int ret;

    if (tool->settings.absent)
        *tool->settings.absent |= process_receipt_absent(&end->receipt);
    (void)last_lines_end(&tool->lines);
    ret = subprocess_judge(tool, end, &err);
    output = memory_format("%.*s", (int)buffer_length(&tool->output),
                           buffer_length(&tool->output) ? buffer_bytes(&tool->output) : "");
    tool->settings.ended(tool->settings.data, output, ret < 0 ? &err : NULL);
    subprocess_free(tool);
}

struct subprocess *subprocess_start(const struct subprocess_settings *settings, struct error *err)
{
    struct subprocess *tool = NEW(struct subprocess);
    const struct process_command command = {
        .arguments = settings->arguments,
        .environment = settings->variables,
        .directory = settings->directory,
        .sandbox = settings->sandbox,
        .limits = limits,
    };

    tool->settings = *settings;
    tool->name = memory_copy_string(settings->name);
    tool->process.output = subprocess_on_output;
    tool->process.ended = subprocess_on_ended;
    tool->lines.said = subprocess_on_said;
    buffer_init(&tool->output, OUTPUT_BYTES);
    if (process_start(settings->host, &tool->process, &command, err) == 0)
        return tool;
    error_prefix(err, "cannot start %s", settings->name);
    subprocess_free(tool);
    return NULL;
}

void subprocess_kill(struct subprocess *tool)
{
    process_kill(&tool->process);
}
