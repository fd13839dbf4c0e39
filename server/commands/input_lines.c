#include "server/commands/input_lines.h"

#include "base/list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_READ_BYTES = 64 * 1024 };

static void input_lines_fail(struct input_lines *lines, const struct error *err)
{
    error_copy(&lines->error, err);
    lines->is_ended = true;
}

static void input_lines_give_up(struct input_lines *lines)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_SYSTEM, "cannot wait for %s", lines->name);
    input_lines_fail(lines, &err);
}

/* Of a line that is too long already a byte is kept, in whose place the line ends. */
static void input_lines_shorten(struct input_lines *lines)
{
    const size_t length = buffer_length(&lines->buffer);

    if (length <= INPUT_LINE_BYTES)
        return;
    buffer_consume(&lines->buffer, length - 1);
    lines->is_shortened = true;
}

static void input_lines_read(struct input_lines *lines)
{
    struct error err = ERROR_INIT;
    char *place;
    ssize_t count;

    input_lines_shorten(lines);
    place = buffer_reserve(&lines->buffer, INPUT_READ_BYTES, &err);
    count = place ? read(lines->fd, place, INPUT_READ_BYTES) : 0;
    if (count < 0 && errno != EINTR && errno != EAGAIN)
        error_set_errno(&err, errno, "cannot read %s", lines->name);
    if (err.code != ERROR_NONE)
        input_lines_fail(lines, &err);
    else if (count == 0)
        lines->is_ended = true;
    else if (count > 0)
        buffer_commit(&lines->buffer, (size_t)count);
}

/* The length of the next line with its end; 0: it is not there yet. The last line may have none. */
static size_t input_lines_measure(const struct input_lines *lines)
{
    const char *bytes = buffer_bytes(&lines->buffer);
    const size_t length = buffer_length(&lines->buffer);
    const char *end = length > 0 ? memchr(bytes, '\n', length) : NULL;

    if (end)
        return (size_t)(end - bytes) + 1;
    return lines->is_ended && lines->error.code == ERROR_NONE ? length : 0;
}

static void input_lines_on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct input_lines *lines = CONTAINER_OF(watcher, struct input_lines, watcher);

    if (events & EV_ERROR)
        input_lines_give_up(lines);
    else
        input_lines_read(lines);
    if (!lines->is_ended && input_lines_measure(lines) == 0)
        return;
    ev_io_stop(loop, watcher);
    lines->came(lines);
}

int input_lines_open(struct input_lines *lines, const char *path, struct error *err)
{
    const bool is_standard = strcmp(path, "-") == 0;

    lines->name = is_standard ? "standard input" : path;
    lines->fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (lines->fd < 0)
        return error_set_errno(err, errno, "cannot read %s", path);
    buffer_init(&lines->buffer, INPUT_LINE_BYTES + INPUT_READ_BYTES);
    ev_io_init(&lines->watcher, input_lines_on_readable, lines->fd, EV_READ);
    return 0;
}

void input_lines_close(struct input_lines *lines)
{
    if (lines->fd < 0)
        return;
    ev_io_stop(lines->loop, &lines->watcher);
    buffer_deinit(&lines->buffer);
    if (lines->fd != STDIN_FILENO)
        close(lines->fd);
    lines->fd = -1;
}

/* The byte order mark that editors of Windows put before the first line. */
static void input_lines_skip_mark(const char **text, size_t *length)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const size_t mark_length = sizeof mark - 1;

    if (*length < mark_length || memcmp(*text, mark, mark_length) != 0)
        return;
    *text += mark_length;
    *length -= mark_length;
}

bool input_lines_next(struct input_lines *lines, const char **ret_text, size_t *ret_length)
{
    buffer_consume(&lines->buffer, lines->taken);
    lines->taken = input_lines_measure(lines);
    if (lines->taken == 0) {
        if (!lines->is_ended)
            ev_io_start(lines->loop, &lines->watcher);
        return false;
    }
    lines->number++;
    *ret_text = buffer_bytes(&lines->buffer);
    *ret_length = lines->taken - ((*ret_text)[lines->taken - 1] == '\n');
    lines->is_too_long = lines->is_shortened || *ret_length > INPUT_LINE_BYTES;
    lines->is_shortened = false;
    if (lines->number == 1)
        input_lines_skip_mark(ret_text, ret_length);
    return true;
}

bool input_lines_are_over(const struct input_lines *lines)
{
    return lines->is_ended &&
           (lines->error.code != ERROR_NONE || buffer_length(&lines->buffer) <= lines->taken);
}
