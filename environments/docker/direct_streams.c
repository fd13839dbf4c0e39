#include "environments/docker/direct_streams.h"

#include "base/cleanup.h"
#include "base/descriptors.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/state.h"
#include "base/untrusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    DIRECT_STREAMS_READ = 1 << 16,
    DIRECT_STREAMS_SAID = 1024,
    DIRECT_STREAMS_REST = 32, /* reads: more than a pipe holds (pipe(7)) */
    DIRECT_STREAMS_UNSAID = 8 << 20,
    DIRECT_STREAMS_GIVEN = 3, /* descriptors: two pipes, and the tools */
};

static const struct state direct_streams_states[] = {
    [DIRECT_STREAMS_NONE] = {"none", 1 << DIRECT_STREAMS_OFFERED},
    [DIRECT_STREAMS_OFFERED] = {"offered", 1 << DIRECT_STREAMS_ASKED | 1 << DIRECT_STREAMS_NONE},
    [DIRECT_STREAMS_ASKED] = {"asked", 1 << DIRECT_STREAMS_READY | 1 << DIRECT_STREAMS_NONE},
    [DIRECT_STREAMS_READY] = {"ready", 1 << DIRECT_STREAMS_NONE},
};

static void direct_streams_set_state(struct direct_streams *streams,
                                     enum direct_streams_state state)
{
    state_change(direct_streams_states, streams->state, state, "direct streams");
    streams->state = state;
}

static void direct_streams_remove_path(struct direct_streams *streams)
{
    if (streams->path)
        (void)unlink(streams->path);
    free(STEAL_PTR(streams->path));
}

static void direct_streams_close_socket(struct direct_streams *streams)
{
    ev_io_stop(streams->loop, &streams->socket_watcher);
    ev_io_stop(streams->loop, &streams->room);
    if (streams->socket >= 0)
        close(STEAL_FD(streams->socket));
}

static void direct_streams_close_pipe(struct direct_streams *streams, int stream)
{
    ev_io_stop(streams->loop, &streams->watchers[stream]);
    if (streams->pipes[stream] >= 0)
        close(STEAL_FD(streams->pipes[stream]));
}

static void direct_streams_drop_tools(struct direct_streams *streams)
{
    if (streams->tools >= 0)
        close(STEAL_FD(streams->tools));
}

void direct_streams_end(struct direct_streams *streams)
{
    direct_streams_drop_tools(streams);
    if (streams->state == DIRECT_STREAMS_NONE)
        return;
    direct_streams_set_state(streams, DIRECT_STREAMS_NONE);
    direct_streams_remove_path(streams);
    direct_streams_close_socket(streams);
    buffer_deinit(&streams->unsaid);
    for (int i = 0; i < FRAME_STREAMS; i++)
        direct_streams_close_pipe(streams, i);
}

/* ---- what the container prints ---- */

/* Reads a piece of output. False when there is nothing now, or no more. */
static bool direct_streams_read(struct direct_streams *streams, int stream)
{
    char data[DIRECT_STREAMS_READ];
    ssize_t length = read(streams->pipes[stream], data, sizeof data);

    if (length > 0)
        streams->output(streams, (enum frame_stream)stream, data, (size_t)length);
    else if (length == 0 || (errno != EAGAIN && errno != EINTR))
        direct_streams_close_pipe(streams, stream);
    return length > 0;
}

static void direct_streams_on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct direct_streams *streams = watcher->data;
    const int stream = (int)(watcher - streams->watchers);

    (void)loop;
    if (events & EV_ERROR)
        direct_streams_close_pipe(streams, stream); /* the engine reports its end */
    else
        (void)direct_streams_read(streams, stream);
}

static void direct_streams_read_pipes(struct direct_streams *streams)
{
    for (int i = 0; i < FRAME_STREAMS; i++)
        for (int reads = 0; reads < DIRECT_STREAMS_REST; reads++)
            if (streams->pipes[i] < 0 || !direct_streams_read(streams, i))
                break;
}

/* Reads the pipes first, so that output does not wait for the wire. False when there is
 * nothing now, or no more. */
static bool direct_streams_read_wire(struct direct_streams *streams)
{
    char data[DIRECT_STREAMS_SAID];
    ssize_t length = recv(streams->socket, data, sizeof data, 0);

    if (length > 0) {
        direct_streams_read_pipes(streams);
        streams->said(streams, data, (size_t)length);
    } else if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
        ev_io_stop(streams->loop, &streams->socket_watcher); /* the engine reports its end */
    }
    return length > 0;
}

void direct_streams_read_rest(struct direct_streams *streams)
{
    direct_streams_read_pipes(streams);
    while (streams->state == DIRECT_STREAMS_READY && direct_streams_read_wire(streams))
        ;
}

static void direct_streams_watch_pipes(struct direct_streams *streams)
{
    for (int i = 0; i < FRAME_STREAMS; i++) {
        if (streams->pipes[i] < 0)
            continue;
        ev_io_set(&streams->watchers[i], streams->pipes[i], EV_READ);
        ev_io_start(streams->loop, &streams->watchers[i]);
    }
}

/* ---- the init ---- */

/* Makes two pipes. STREAMS keeps the reading ends; the caller owns the writing ends, THEIRS. */
static int direct_streams_make_pipes(struct direct_streams *streams, int theirs[2],
                                     struct error *err)
{
    static const enum frame_stream order[] = {FRAME_STDOUT, FRAME_STDERR};

    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
            return error_set_errno(err, errno, "cannot make a pipe");
        streams->pipes[order[i]] = ends[0];
        theirs[i] = ends[1];
        if (fd_set_nonblocking(ends[0], err) < 0)
            return -1;
    }
    return 0;
}

/* Sends the COUNT pipes that are THEIRS, and the tools, if there are any. False when that fails. */
static bool direct_streams_hand_over(struct direct_streams *streams, const int *theirs,
                                     size_t count)
{
    int given[DIRECT_STREAMS_GIVEN];
    bool was_sent;

    memcpy(given, theirs, count * sizeof *given);
    if (streams->tools >= 0)
        given[count++] = streams->tools;
    was_sent = descriptors_send(streams->socket, "", 1, given, count) == 1;
    direct_streams_drop_tools(streams);
    return was_sent;
}

/* Equips the process that has connected. False when that fails. */
static bool direct_streams_equip(struct direct_streams *streams)
{
    struct error err = ERROR_INIT;
    int theirs[] = {-1, -1};
    bool is_equipped;

    if (streams->is_plain)
        return direct_streams_hand_over(streams, theirs, 0);
    is_equipped = direct_streams_make_pipes(streams, theirs, &err) == 0 &&
                  direct_streams_hand_over(streams, theirs, ARRAY_SIZE(theirs));

    for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    return is_equipped;
}

/* The init says hello at once, and in one piece. */
static void direct_streams_answer(struct direct_streams *streams)
{
    char said[WIRE_HELLO_BYTES];

    if (recv(streams->socket, said, sizeof said, 0) != sizeof said ||
        memcmp(said, WIRE_HELLO, sizeof said) != 0 || !direct_streams_equip(streams)) {
        direct_streams_end(streams);
        return;
    }
    direct_streams_set_state(streams, DIRECT_STREAMS_READY);
    direct_streams_watch_pipes(streams);
    streams->said(streams, said, sizeof said);
}

static void direct_streams_on_socket(struct ev_loop *loop, ev_io *watcher, int events);

static void direct_streams_watch_socket(struct direct_streams *streams)
{
    ev_io_set(&streams->socket_watcher, streams->socket, EV_READ);
    ev_io_start(streams->loop, &streams->socket_watcher);
}

static void direct_streams_accept(struct direct_streams *streams)
{
    int init = accept4(streams->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (init < 0)
        return;
    direct_streams_close_socket(streams);
    direct_streams_remove_path(streams);
    streams->socket = init;
    direct_streams_set_state(streams, DIRECT_STREAMS_ASKED);
    direct_streams_watch_socket(streams);
}

static void direct_streams_on_socket(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct direct_streams *streams = CONTAINER_OF(watcher, struct direct_streams, socket_watcher);

    (void)loop;
    if (events & EV_ERROR)
        direct_streams_end(streams);
    else if (streams->state == DIRECT_STREAMS_READY)
        (void)direct_streams_read_wire(streams);
    else if (streams->state == DIRECT_STREAMS_OFFERED)
        direct_streams_accept(streams);
    else
        direct_streams_answer(streams);
}

/* ---- what it is told ---- */

/* The first bytes have the tools beside them, if the init does not have them yet. False when it
 * takes nothing now, or has ended. */
static bool direct_streams_say_once(struct direct_streams *streams)
{
    ssize_t count =
        descriptors_send(streams->socket, buffer_bytes(&streams->unsaid),
                         buffer_length(&streams->unsaid), &streams->tools, streams->tools >= 0);

    if (count <= 0)
        return false;
    direct_streams_drop_tools(streams);
    buffer_consume(&streams->unsaid, (size_t)count);
    return true;
}

static void direct_streams_say(struct direct_streams *streams)
{
    while (buffer_length(&streams->unsaid) > 0 && direct_streams_say_once(streams))
        ;
    if (buffer_length(&streams->unsaid) > 0 && errno == EAGAIN) {
        ev_io_set(&streams->room, streams->socket, EV_WRITE);
        ev_io_start(streams->loop, &streams->room);
    } else {
        ev_io_stop(streams->loop, &streams->room); /* the engine reports its end */
    }
}

static void direct_streams_on_room(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct direct_streams *streams = CONTAINER_OF(watcher, struct direct_streams, room);

    if (events & EV_ERROR)
        ev_io_stop(loop, watcher); /* the engine reports its end */
    else
        direct_streams_say(streams);
}

int direct_streams_tell(struct direct_streams *streams, const char *data, size_t length,
                        struct error *err)
{
    if (buffer_append(&streams->unsaid, data, length, err) < 0)
        return error_prefix(err, "what the container is told");
    if (!ev_is_active(&streams->room))
        direct_streams_say(streams);
    return 0;
}

/* ---- the offer ---- */

void direct_streams_init(struct direct_streams *streams, struct ev_loop *loop)
{
    streams->loop = loop;
    streams->socket = -1;
    streams->tools = -1;
    ev_init(&streams->socket_watcher, direct_streams_on_socket);
    ev_init(&streams->room, direct_streams_on_room);
    for (int i = 0; i < FRAME_STREAMS; i++) {
        streams->pipes[i] = -1;
        ev_init(&streams->watchers[i], direct_streams_on_readable);
        streams->watchers[i].data = streams;
    }
}

/* The user of a container may be any. */
static int direct_streams_bind_for_all(int socket, const struct sockaddr_un *address)
{
    const mode_t mask = umask(0);
    int ret = bind(socket, (const struct sockaddr *)address, sizeof *address);

    umask(mask);
    return ret;
}

/* The path of a socket has at most 107 bytes: a path below an open descriptor always fits. */
static int direct_streams_bind(int socket, const char *path, struct error *err)
{
    const char *name = strrchr(path, '/') + 1;
    AUTO_FREE char *folder = memory_format("%.*s", (int)(name - path), path);
    AUTO_CLOSE int directory = untrusted_open_directory(AT_FDCWD, folder, err);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    AUTO_FREE char *place = memory_format("/proc/self/fd/%d/%s", directory, name);

    if (directory < 0)
        return -1;
    if (strlen(place) >= sizeof address.sun_path)
        return error_set(err, ERROR_LIMIT, "the name of a socket is too long");
    memcpy(address.sun_path, place, strlen(place));
    if (direct_streams_bind_for_all(socket, &address) < 0 || listen(socket, 1) < 0)
        return error_set_errno(err, errno, "cannot listen for a container");
    return 0;
}

int direct_streams_offer(struct direct_streams *streams, const char *path, struct error *err)
{
    streams->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (streams->socket < 0)
        return error_set_errno(err, errno, "cannot make a socket");
    if (direct_streams_bind(streams->socket, path, err) < 0) {
        close(STEAL_FD(streams->socket));
        return -1;
    }
    streams->path = memory_copy_string(path);
    buffer_init(&streams->unsaid, DIRECT_STREAMS_UNSAID);
    direct_streams_set_state(streams, DIRECT_STREAMS_OFFERED);
    direct_streams_watch_socket(streams);
    return 0;
}

const char *direct_streams_path(const struct direct_streams *streams)
{
    return streams->path;
}

bool direct_streams_are_ready(const struct direct_streams *streams)
{
    char byte;

    return streams->state == DIRECT_STREAMS_READY &&
           recv(streams->socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) != 0;
}

bool direct_streams_are_offered(const struct direct_streams *streams)
{
    return streams->state == DIRECT_STREAMS_OFFERED || streams->state == DIRECT_STREAMS_ASKED;
}

void direct_streams_give_tools(struct direct_streams *streams, int tools)
{
    direct_streams_drop_tools(streams);
    streams->tools = fcntl(tools, F_DUPFD_CLOEXEC, 0); /* an init that needs them does not begin */
}

void direct_streams_withdraw(struct direct_streams *streams)
{
    if (streams->state != DIRECT_STREAMS_READY)
        direct_streams_end(streams);
}

bool direct_streams_are_plain(const struct direct_streams *streams)
{
    return streams->is_plain && streams->state == DIRECT_STREAMS_READY;
}
