#include "server/commands/outlet.h"

#include "base/fd.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/commands/step_display.h"
#include "server/commands/terminal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sysexits.h>
#include <unistd.h>

enum {
    OUTLET_FULL_BYTES = 1024 * 1024,
    OUTLET_BY_SIGNAL = 128, /* as the shells */
};

static int outlet_fd(const struct outlet *outlet)
{
    return outlet->terminal < 0 ? outlet->fd : outlet->terminal;
}

/* Others may share the descriptor's open file, so it is not made non-blocking. A pipe or a socket
 * that has room has enough for PIPE_BUF bytes. A terminal may have less: it is opened again. */
static int outlet_write(struct outlet *outlet, struct error *err)
{
    const int fd = outlet_fd(outlet);

    while (!outlet_is_empty(outlet) && fd_has_room(fd)) {
        ssize_t count = write(fd, buffer_bytes(&outlet->unsent),
                              size_min(buffer_length(&outlet->unsent), PIPE_BUF));

        if (count < 0 && errno == EAGAIN)
            return 0;
        if (count < 0 && errno != EINTR)
            return error_set_errno(err, errno, "write");
        if (count > 0)
            buffer_consume(&outlet->unsent, (size_t)count);
    }
    return 0;
}

/* Nothing is drawn over a line of which a terminal shows a part. */
static void outlet_rearm(struct outlet *outlet)
{
    if (outlet_is_empty(outlet))
        ev_io_stop(outlet->loop, &outlet->watcher);
    else
        ev_io_start(outlet->loop, &outlet->watcher);
    outlet->display->is_held = outlet->terminal >= 0 && !outlet_is_empty(outlet);
}

static int outlet_go_on(struct outlet *outlet, struct error *err)
{
    step_display_hide(outlet->display);
    if (outlet_write(outlet, err) < 0) {
        ev_io_stop(outlet->loop, &outlet->watcher);
        return -1;
    }
    outlet_rearm(outlet);
    return 0;
}

static void outlet_on_room(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct outlet *outlet = CONTAINER_OF(watcher, struct outlet, watcher);
    struct error err = ERROR_INIT;
    int status;

    (void)loop;
    if (events & EV_ERROR)
        status = error_set(&err, ERROR_SYSTEM, "its reader cannot be waited for");
    else
        status = outlet_go_on(outlet, &err);
    outlet->taken(outlet->data, status < 0 ? &err : NULL);
}

void outlet_open(struct outlet *outlet)
{
    buffer_init(&outlet->unsent, SIZE_MAX); /* callers stop when the outlet is full */
    outlet->terminal = terminal_open_again(outlet->fd);
    ev_io_init(&outlet->watcher, outlet_on_room, outlet_fd(outlet), EV_WRITE);
}

void outlet_close(struct outlet *outlet)
{
    ev_io_stop(outlet->loop, &outlet->watcher);
    buffer_deinit(&outlet->unsent);
    if (outlet->terminal >= 0)
        close(outlet->terminal);
}

int outlet_put(struct outlet *outlet, const char *bytes, size_t length, struct error *err)
{
    if (buffer_append(&outlet->unsent, bytes, length, err) < 0)
        return -1;
    return outlet_go_on(outlet, err);
}

int outlet_wait(struct outlet *outlet, struct error *err)
{
    const size_t length = buffer_length(&outlet->unsent);

    if (fd_write_all(outlet_fd(outlet), buffer_bytes(&outlet->unsent), length, err) < 0)
        return -1;
    buffer_consume(&outlet->unsent, length);
    outlet_rearm(outlet);
    return 0;
}

bool outlet_is_full(const struct outlet *outlet)
{
    return buffer_length(&outlet->unsent) >= OUTLET_FULL_BYTES;
}

bool outlet_is_empty(const struct outlet *outlet)
{
    return buffer_length(&outlet->unsent) == 0;
}

int outlet_fail(const struct error *err)
{
    if (err->number == EPIPE)
        return OUTLET_BY_SIGNAL + SIGPIPE;
    log_error("cannot write the output: %s", err->message);
    return EX_IOERR;
}
