#include "server/transport/listener.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#define LISTENER_PAUSE_SECONDS 0.1

enum { ACCEPTS_AT_ONCE = 16 }; /* then other listeners have their turn */

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Answers are small and complete: nothing is gained by waiting for more. */
static void set_options(int fd, const struct peer *peer)
{
    static const int yes = 1;

    if (peer->family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static void listener_greet(struct listener *listener, int fd)
{
    struct error err = ERROR_INIT;
    struct peer peer;

    if (peer_identify(fd, &peer, &err) < 0) {
        log_warning("a client was refused reason=\"%s\"", err.message);
        close(fd);
        return;
    }
    if (peer.family == AF_UNIX || !listener->connections->authority)
        peer.insider = insider_find(fd, &listener->connections->judge);
    set_options(fd, &peer);
    connections_admit(listener->connections, fd, &peer, listener->entrance);
}

/* No descriptor is left: the client that waits is sent away with the spare one, since a connection
 * that stays in the queue would wake the loop again at once. */
static void listener_shed(struct listener *listener)
{
    int fd;

    if (listener->spare >= 0)
        close(listener->spare);
    fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    listener->spare = open_spare();
}

static void begin_pause(struct ev_loop *loop, struct listener *listener, int number)
{
    struct error err = ERROR_INIT;

    error_set_errno(&err, number, "cannot accept");
    log_warning("%s", err.message);
    ev_io_stop(loop, &listener->acceptable);
    ev_timer_set(&listener->pause, LISTENER_PAUSE_SECONDS, 0);
    ev_timer_start(loop, &listener->pause);
}

static void listener_on_acceptable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct listener *listener = CONTAINER_OF(watcher, struct listener, acceptable);

    if (events & EV_ERROR) {
        begin_pause(loop, listener, ENOMEM);
        return;
    }
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        int number = errno;

        if (fd >= 0) {
            listener_greet(listener, fd);
            continue;
        }
        if (number == EAGAIN)
            return;
        if (number == EINTR || number == ECONNABORTED)
            continue;
        if (number == EMFILE || number == ENFILE)
            listener_shed(listener);
        begin_pause(loop, listener, number);
        return;
    }
}

static void listener_on_pause_end(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct listener *listener = CONTAINER_OF(timer, struct listener, pause);

    (void)events;
    ev_io_start(loop, &listener->acceptable);
}

struct listener *listener_new(struct connections *connections, int fd,
                              const struct socket_file *file, const struct entrance *entrance)
{
    struct listener *listener = NEW(struct listener);

    list_init(&listener->link);
    listener->connections = connections;
    listener->entrance = entrance;
    listener->fd = fd;
    listener->spare = open_spare();
    listener->file = *file;
    ev_io_init(&listener->acceptable, listener_on_acceptable, fd, EV_READ);
    ev_timer_init(&listener->pause, listener_on_pause_end, 0, 0);
    ev_io_start(connections->loop, &listener->acceptable);
    return listener;
}

void listener_free(struct listener *listener)
{
    if (!listener)
        return;
    list_remove(&listener->link);
    ev_io_stop(listener->connections->loop, &listener->acceptable);
    ev_timer_stop(listener->connections->loop, &listener->pause);
    socket_file_remove(&listener->file);
    close(listener->fd);
    if (listener->spare >= 0)
        close(listener->spare);
    free(listener);
}
