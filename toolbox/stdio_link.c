#include "toolbox/stdio_link.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/executable.h"
#include "base/line_reader.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "base/text.h"
#include "environments/process/last_lines.h"
#include "environments/process/process.h"
#include "toolbox/line_ends.h"
#include "toolbox/server_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STDIO_LINK_PROBE_SECONDS    3.0
#define STDIO_LINK_FAREWELL_SECONDS 2.0 /* from the end of its input to SIGKILL */

enum { STDIO_LINK_WASTE_BYTES = 64 * 1024 * 1024 }; /* of one line, most of which is dropped */

/* Interpreters reserve memory, and packages unpack themselves. */
static const struct process_limits stdio_link_limits = {
    .memory = 4ULL << 30,
    .processes = 1024,
    .file_size = 8ULL << 30,
};

struct stdio_link {
    struct tool_link base;
    struct ev_loop *loop;          /* borrowed */
    const struct secrets *secrets; /* borrowed */
    char *name;                    /* owned */
    char *start;                   /* owned: the folder in which its program began */
    char *lack;                    /* owned: a folder of PATH that its program lacks; or NULL */
    struct process process;
    bool has_ended; /* the tree is gone */
    bool is_broken; /* the listener knows */
    bool is_heard;  /* it has sent a message */
    bool is_closed;
    int input; /* owned: the end to write to; -1: closed */
    ev_io writing;
    ev_timer farewell;
    struct buffer unsent;
    struct line_reader reader;
    struct line_ends line;       /* that is being read */
    struct secret_filter filter; /* before its errors are cut into lines */
    struct last_lines said;
};

static void stdio_link_free(struct stdio_link *link)
{
    ev_io_stop(link->loop, &link->writing);
    ev_timer_stop(link->loop, &link->farewell);
    if (link->input >= 0)
        close(link->input);
    buffer_deinit(&link->unsent);
    line_reader_deinit(&link->reader);
    secret_filter_deinit(&link->filter);
    free(link->name);
    free(link->start);
    free(link->lack);
    free(link);
}

static void stdio_link_break(struct stdio_link *link, struct error *err)
{
    if (link->is_broken || link->is_closed)
        return;
    link->is_broken = true;
    secrets_hide_error(link->secrets, err);
    link->base.listener->broken(link->base.listener, err);
}

/* Reading */

/* Programs also print what is no message, such as a greeting: it is passed over, unless it was to
 * be an answer. */
static void stdio_link_refuse_text(struct stdio_link *link, const struct error *fault)
{
    const unsigned id = line_ends_find_id(&link->line);
    struct error err = ERROR_INIT;

    if (fault->code == ERROR_PARSE && (id == 0 || !line_ends_are_of_answer(&link->line)))
        return;
    link_explain_answer(fault, &err);
    link->base.listener->lost(link->base.listener, id, &err, false);
}

static void stdio_link_take_text(struct stdio_link *link, char *text, size_t length)
{
    struct scan scan = {0};
    struct error err = ERROR_INIT;
    json_t *message = message_parse(text, length, &scan, &err);

    scan_deinit(&scan);
    secrets_hide(link->secrets, json_object_get(message, "error"));
    link->is_heard |= message != NULL;
    if (message)
        link->base.listener->message(link->base.listener, message);
    else
        stdio_link_refuse_text(link, &err);
    json_decref(message);
}

static void stdio_link_drop_line(struct stdio_link *link)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_LIMIT, "its answer has more than %d bytes", LINK_MESSAGE_BYTES);
    link->base.listener->lost(link->base.listener, line_ends_find_id(&link->line), &err, false);
}

/* At most one line ends in BYTES, at their end. */
static void stdio_link_take_piece(struct stdio_link *link, const char *bytes, size_t length)
{
    enum line_kind kind;
    size_t line_length;
    char *line;

    line_ends_add(&link->line, bytes, length);
    memcpy(line_reader_reserve(&link->reader), bytes, length);
    line_reader_commit(&link->reader, length);
    while (!link->is_closed &&
           (kind = line_reader_next(&link->reader, &line, &line_length)) != LINE_NONE)
        if (kind == LINE_COMPLETE)
            stdio_link_take_text(link, line, line_length);
        else
            stdio_link_drop_line(link);
    if (bytes[length - 1] == '\n')
        link->line = (struct line_ends){0};
}

static void stdio_link_take_bytes(struct stdio_link *link, const char *bytes, size_t length)
{
    while (length > 0 && !link->is_closed && !link->is_broken) {
        const size_t most = size_min(length, LINE_READER_ROOM);
        const char *end = memchr(bytes, '\n', most);
        const size_t taken = end ? (size_t)(end + 1 - bytes) : most;
        struct error err = ERROR_INIT;

        stdio_link_take_piece(link, bytes, taken);
        if (link->line.length > STDIO_LINK_WASTE_BYTES) {
            error_set(&err, ERROR_LIMIT, "it writes a message without an end");
            stdio_link_break(link, &err);
        }
        bytes += taken;
        length -= taken;
    }
}

static void stdio_link_on_said(struct last_lines *lines, const char *line)
{
    struct stdio_link *link = CONTAINER_OF(lines, struct stdio_link, said);

    log_debug("tools of %s say: %s", link->name, line);
}

static void stdio_link_on_passed(struct secret_filter *filter, const char *bytes, size_t length)
{
    struct stdio_link *link = CONTAINER_OF(filter, struct stdio_link, filter);

    last_lines_feed(&link->said, 0, bytes, length);
}

static void stdio_link_on_output(struct process *process, enum process_stream stream,
                                 const char *data, size_t length)
{
    struct stdio_link *link = CONTAINER_OF(process, struct stdio_link, process);

    if (stream == PROCESS_STDERR)
        secret_filter_feed(&link->filter, data, length);
    else
        stdio_link_take_bytes(link, data, length);
}

/* The end */

/* Says where a program began that has never spoken, as it may have missed a file there. Owned by
 * the caller. */
static char *stdio_link_explain_start(const struct stdio_link *link)
{
    if (link->is_heard)
        return memory_copy_string("");
    return memory_format(" (it began in %s, which is empty: a path from the folder of the "
                         "configuration begins with ./%s%s%s)",
                         link->start, link->lack ? "; its PATH lacks " : "",
                         text_or_none(link->lack), link->lack ? ", where scripts write" : "");
}

static void stdio_link_explain_end(struct stdio_link *link, const struct process_end *end,
                                   struct error *err)
{
    const char *said = last_lines_end(&link->said);
    AUTO_FREE char *where = stdio_link_explain_start(link);

    if (end->failure[0])
        error_set(err, ERROR_UNAVAILABLE, "its program cannot be run: %s", end->failure);
    else if (end->out_of_memory)
        error_set(err, ERROR_UNAVAILABLE, "its program needed more memory than it may have");
    else if (end->returncode < 0)
        error_set(err, ERROR_UNAVAILABLE, "its program was killed by signal %d%s%s%s",
                  -end->returncode, where, *said ? ":\n" : "", said);
    else
        error_set(err, ERROR_UNAVAILABLE, "its program ended with exit status %d%s%s%s",
                  end->returncode, where, *said ? ":\n" : "", said);
}

static void stdio_link_go(struct stdio_link *link)
{
    struct link_listener *listener = link->base.listener;

    listener->gone(listener);
    stdio_link_free(link);
}

static void stdio_link_on_ended(struct process *process, const struct process_end *end)
{
    struct stdio_link *link = CONTAINER_OF(process, struct stdio_link, process);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    link->has_ended = true;
    if (link->is_closed) {
        stdio_link_go(link);
        return;
    }
    stdio_link_explain_end(link, end, &err);
    stdio_link_break(link, &err);
}

static void stdio_link_on_farewell(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct stdio_link *link = CONTAINER_OF(timer, struct stdio_link, farewell);

    (void)loop;
    (void)events;
    if (link->has_ended)
        stdio_link_go(link);
    else
        process_kill(&link->process);
}

static void stdio_link_close_input(struct stdio_link *link)
{
    ev_io_stop(link->loop, &link->writing);
    if (link->input >= 0)
        close(STEAL_FD(link->input));
}

static void stdio_link_close(struct tool_link *base, bool at_once)
{
    struct stdio_link *link = CONTAINER_OF(base, struct stdio_link, base);

    link->is_closed = true;
    stdio_link_close_input(link);
    if (at_once && !link->has_ended)
        process_kill(&link->process);
    ev_timer_stop(link->loop, &link->farewell);
    ev_timer_set(&link->farewell, at_once || link->has_ended ? 0. : STDIO_LINK_FAREWELL_SECONDS,
                 0.);
    ev_timer_start(link->loop, &link->farewell);
}

/* Writing */

/* A program that does not read any more has ended, or will: its end tells more. */
static void stdio_link_flush(struct stdio_link *link)
{
    while (link->input >= 0 && buffer_length(&link->unsent) > 0) {
        const ssize_t written =
            write(link->input, buffer_bytes(&link->unsent), buffer_length(&link->unsent));

        if (written < 0 && errno == EAGAIN) {
            ev_io_start(link->loop, &link->writing);
            return;
        }
        if (written < 0 && errno != EINTR) {
            stdio_link_close_input(link);
            return;
        }
        if (written > 0)
            buffer_consume(&link->unsent, (size_t)written);
    }
    ev_io_stop(link->loop, &link->writing);
}

static void stdio_link_on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct stdio_link *link = CONTAINER_OF(watcher, struct stdio_link, writing);

    (void)loop;
    if (events & EV_ERROR)
        stdio_link_close_input(link);
    else
        stdio_link_flush(link);
}

static int stdio_link_send(struct tool_link *base, const struct outgoing *message,
                           struct error *err)
{
    struct stdio_link *link = CONTAINER_OF(base, struct stdio_link, base);
    const size_t length = strlen(message->text);

    if (link->input < 0)
        return error_set(err, ERROR_UNAVAILABLE, "its program has ended");
    if (buffer_length(&link->unsent) + length + 1 > LINK_UNSENT_BYTES)
        return error_set(err, ERROR_BUSY, "its program does not read what was sent before");
    (void)buffer_append(&link->unsent, message->text, length, err);
    (void)buffer_append(&link->unsent, "\n", 1, err);
    stdio_link_flush(link);
    return 0;
}

/* The program was told by a message of the protocol. */
static void stdio_link_forget(struct tool_link *base, unsigned id)
{
    (void)base;
    (void)id;
}

static void stdio_link_settle(struct tool_link *base, enum mcp_version version, bool listen)
{
    (void)base;
    (void)version;
    (void)listen;
}

static const struct link_ops stdio_link_ops = {
    .send = stdio_link_send,
    .forget = stdio_link_forget,
    .settle = stdio_link_settle,
    .close = stdio_link_close,
};

/* The start */

/* The first folder on the PATH of this process that PATH lacks; or NULL. Owned by the caller. */
static char *stdio_link_find_lack(const char *path)
{
    AUTO_FREE char *all = memory_format(":%s:", path);
    const char *rest = text_or_none(getenv("PATH"));

    while (*rest) {
        const size_t length = strcspn(rest, ":");
        AUTO_FREE char *part = memory_format(":%.*s:", (int)length, rest);

        if (*rest == '/' && !strstr(all, part))
            return memory_format("%.*s", (int)length, rest);
        rest += length + (rest[length] == ':');
    }
    return NULL;
}

static bool stdio_link_sets(const struct server_settings *settings, const char *variable)
{
    const size_t length = strcspn(variable, "=") + 1;

    for (char *const *own = settings->variables; *own; own++)
        if (strncmp(*own, variable, length) == 0)
            return true;
    return false;
}

/* The variables of SETTINGS, and where it does not set them PATH, which is VARIABLE, and some of
 * this process, as clients of MCP pass them on: of two with one name some programs take the last.
 * The list is owned by the caller, its strings are not. */
static const char **stdio_link_list_variables(const struct server_settings *settings,
                                              const char *variable)
{
    static const char *const names[] = {
        "HOME=", "LANG=", "LC_ALL=", "LOGNAME=", "SHELL=", "TERM=", "TMPDIR=", "TZ=", "USER="};
    size_t count = 0;
    const char **list;

    while (settings->variables[count])
        count++;
    list = memory_new(count + ARRAY_SIZE(names) + 2, sizeof *list);
    memcpy(list, settings->variables, count * sizeof *list);
    if (!stdio_link_sets(settings, variable))
        list[count++] = variable;
    for (char **inherited = environ; *inherited; inherited++)
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
            if (text_starts_with(*inherited, names[i]) && !stdio_link_sets(settings, *inherited))
                list[count++] = *inherited;
    return list;
}

static int stdio_link_start(struct stdio_link *link, struct process_host *host,
                            const struct server_settings *settings, int input, struct error *err)
{
    AUTO_FREE char *program = executable_find(settings->path, settings->command[0]);
    AUTO_FREE char *variable = memory_format("PATH=%s", settings->path);
    AUTO_FREE const char **variables = stdio_link_list_variables(settings, variable);
    char *first = settings->command[0];
    int ret;

    if (!program)
        return error_set(err, ERROR_UNAVAILABLE, "there is no program %s on the server's PATH",
                         first);
    settings->command[0] = program;
    ret = process_start(host, &link->process,
                        &(struct process_command){
                            .arguments = (const char *const *)settings->command,
                            .environment = variables,
                            .directory = settings->directory,
                            .input = input,
                            .limits = stdio_link_limits,
                        },
                        err);
    settings->command[0] = first;
    return ret;
}

static struct stdio_link *stdio_link_new(struct ev_loop *loop,
                                         const struct server_settings *settings, int input)
{
    struct stdio_link *link = NEW(struct stdio_link);

    link->base.ops = &stdio_link_ops;
    link->base.probe_seconds = STDIO_LINK_PROBE_SECONDS;
    link->loop = loop;
    link->secrets = &settings->secrets;
    link->name = memory_copy_string(settings->name);
    link->start = memory_copy_string(settings->directory);
    link->lack = stdio_link_find_lack(settings->path);
    link->process.output = stdio_link_on_output;
    link->process.ended = stdio_link_on_ended;
    link->said.said = stdio_link_on_said;
    link->filter.passed = stdio_link_on_passed;
    secret_filter_init(&link->filter, &settings->secrets);
    link->input = input;
    ev_io_init(&link->writing, stdio_link_on_writable, input, EV_WRITE);
    ev_init(&link->farewell, stdio_link_on_farewell);
    buffer_init(&link->unsent, LINK_UNSENT_BYTES);
    line_reader_init(&link->reader, LINK_MESSAGE_BYTES);
    return link;
}

struct tool_link *stdio_link_open(struct ev_loop *loop, struct process_host *host,
                                  const struct server_settings *settings,
                                  struct link_listener *listener, struct error *err)
{
    struct stdio_link *link;
    AUTO_CLOSE int theirs = -1;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0) {
        error_set_errno(err, errno, "cannot make a pipe for its program");
        return NULL;
    }
    theirs = ends[0];
    link = stdio_link_new(loop, settings, ends[1]);
    link->base.listener = listener;
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 &&
        stdio_link_start(link, host, settings, theirs, err) == 0)
        return &link->base;
    stdio_link_free(link);
    return NULL;
}
