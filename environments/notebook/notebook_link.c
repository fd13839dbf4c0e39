/* The socket between a session and its Python. */
#include "base/cleanup.h"
#include "base/descriptors.h"
#include "environments/notebook/notebook_private.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    NOTEBOOK_OUT_BYTES = 4 << 20,
    NOTEBOOK_IN_BYTES = 64,
    NOTEBOOK_UNREAD_BYTES = 8192, /* of orders, as the kernel counts: about ten */
};

/* A byte that comes while no cell is at work is not from our program; the callback judges it. */
static void notebook_link_on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct notebook *notebook = CONTAINER_OF(watcher, struct notebook, channel.reading);
    unsigned char bytes[NOTEBOOK_IN_BYTES];
    ssize_t count =
        events & EV_ERROR ? 0 : recv(notebook->channel.fd, bytes, sizeof bytes, MSG_DONTWAIT);

    (void)loop;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count == 1)
        notebook->channel.answered(notebook, bytes[0]);
    else
        notebook->channel.broken(notebook);
}

/* If sending fails, the Python has ended, which is noticed elsewhere: no answer will come. */
static void notebook_link_flush(struct notebook *notebook)
{
    struct notebook_link *link = &notebook->channel;

    while (buffer_length(&link->out) > 0) {
        ssize_t sent = send(link->fd, buffer_bytes(&link->out), buffer_length(&link->out),
                            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN) {
            ev_io_start(notebook->loop, &link->writing);
            return;
        }
        if (sent < 0 && errno != EINTR)
            break;
        if (sent > 0)
            buffer_consume(&link->out, (size_t)sent);
    }
    ev_io_stop(notebook->loop, &link->writing);
}

static void notebook_link_on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct notebook *notebook = CONTAINER_OF(watcher, struct notebook, channel.writing);

    (void)loop;
    if (events & EV_ERROR)
        notebook->channel.broken(notebook);
    else
        notebook_link_flush(notebook);
}

int notebook_link_open(struct notebook *notebook, int *ret_theirs, struct error *err)
{
    struct notebook_link *link = &notebook->channel;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set_errno(err, errno, "cannot make a socket for the session");
    link->fd = pair[0];
    *ret_theirs = pair[1];
    buffer_init(&link->out, NOTEBOOK_OUT_BYTES);
    ev_io_init(&link->reading, notebook_link_on_readable, link->fd, EV_READ);
    ev_io_init(&link->writing, notebook_link_on_writable, link->fd, EV_WRITE);
    ev_io_start(notebook->loop, &link->reading);
    return 0;
}

void notebook_link_close(struct notebook *notebook)
{
    struct notebook_link *link = &notebook->channel;

    if (link->fd < 0)
        return;
    ev_io_stop(notebook->loop, &link->reading);
    ev_io_stop(notebook->loop, &link->writing);
    buffer_deinit(&link->out);
    close(STEAL_FD(link->fd));
}

/* Descriptors that are on their way count against a quota of the server's user. */
static int notebook_link_unread(const struct notebook_link *link)
{
    int bytes = 0;

    return ioctl(link->fd, SIOCOUTQ, &bytes) < 0 ? INT_MAX : bytes;
}

/* Orders and cells are read in the order in which they were sent: a cell at work is finished
 * before. */
int notebook_link_order(struct notebook *notebook, const int descriptors[NOTEBOOK_GIVEN],
                        struct error *err)
{
    static const char order[] = "copy\n";
    const struct notebook_link *link = &notebook->channel;
    const ssize_t length = (ssize_t)strlen(order);

    if (buffer_length(&link->out) > 0 || notebook_link_unread(link) > NOTEBOOK_UNREAD_BYTES)
        return error_set(err, ERROR_BUSY, "it has not read what was sent before; try again later");
    if (descriptors_send(link->fd, order, strlen(order), descriptors, NOTEBOOK_GIVEN) != length)
        return error_set_errno(err, errno, "cannot reach its Python");
    return 0;
}

/* Says where the packages of the session are, if its Python does not know that yet. A Jupyter
 * kernel, which a restart may bring, has no use for them. */
static int notebook_link_tell_packages(struct notebook *notebook, struct error *err)
{
    const struct notebook_packages *packages = notebook->packages;

    if (!packages || notebook->knows_packages || environment_kernel(notebook->environment))
        return 0;
    notebook->knows_packages = true;
    return buffer_append_format(&notebook->channel.out, err, "packages %s\n", packages->venv);
}

/* An interrupt that its Python finds beside the next cell can be that of the last one. */
static int notebook_link_tell_interrupt(struct notebook *notebook, struct error *err)
{
    if (!notebook->was_interrupted)
        return 0;
    notebook->was_interrupted = false;
    return buffer_append_format(&notebook->channel.out, err, "interrupted\n");
}

/* One cell at a time is sent, and its size is bounded: it fits, unless the Python has not read
 * earlier cells. */
void notebook_link_send(struct notebook *notebook, const struct cell *cell)
{
    struct notebook_link *link = &notebook->channel;
    struct error err = ERROR_INIT;

    if (link->fd < 0)
        return;
    if (notebook_link_tell_interrupt(notebook, &err) < 0 ||
        notebook_link_tell_packages(notebook, &err) < 0 ||
        buffer_append_format(&link->out, &err, "%zu\n", cell->request.code_length) < 0 ||
        buffer_append(&link->out, cell->code, cell->request.code_length, &err) < 0)
        notebook->channel.broken(notebook);
    else
        notebook_link_flush(notebook);
}
