/* One connection: lines in, lines out, over a socket or a pair of descriptors.
 *
 *     SERVING    reads lines and hands them to the session; output of the session is written at
 *                once, and the rest of it when the client takes more. A client that leaves too much
 *                untaken is not read from meanwhile.
 *     FINISHING  the client has ended its input: running calls may still be answered
 *     FLUSHING   no call is left; the client may still take its output
 *     CLOSED     nothing happens any more
 *
 * A client that is gone altogether, or takes none of its output for too long, goes from any state
 * to CLOSED. A stream never frees itself: it tells its owner that it is leaving, and the owner
 * calls stream_settle before the loop sleeps, until the stream is over. */
#pragma once

#include "base/buffer.h"
#include "base/line_reader.h"
#include "server/jsonrpc/session.h"
#include "server/transport/transport.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

enum {
    /* Answers to calls that were running when reading stopped; beyond it the client is closed. */
    STREAM_OVERRUN_BYTES = 64 * 1024 * 1024,
};

enum stream_state {
    STREAM_SERVING,
    STREAM_FINISHING,
    STREAM_FLUSHING,
    STREAM_CLOSED,
};

struct stream;

struct stream_settings {
    struct ev_loop *loop;                  /* borrowed */
    struct mcp_server *server;             /* borrowed */
    const struct transport_limits *limits; /* borrowed */
    const char *principal;                 /* copied */
    bool is_local;                         /* the client is a process of our user */
    const char *what;                      /* for the log; NULL: "connection" */
    unsigned number;                       /* of the connection, for the log */
    unsigned messages;                     /* most lines that it may send; 0: there is no limit */
    size_t bytes;                          /* with `messages`: most bytes that it may send */
    int in;                                /* taken; non-blocking unless it is a socket */
    int out;                               /* taken; may be the same as IN */

    /* How long running calls may go on after the end of input. 0: there is no limit, for the calls
     * nor for output that the client keeps taking. */
    double grace_seconds;

    /* The stream stops serving. Called once, possibly below a call to the stream. */
    void (*leaving)(struct stream *stream);
};

/* How a descriptor is read and written: neither may wait or raise SIGPIPE. */
struct stream_io {
    ssize_t (*read)(int fd, void *data, size_t size);
    ssize_t (*write)(int fd, struct iovec *parts, int count);
};

struct stream {
    enum stream_state state;
    struct session session; /* until FLUSHING */
    struct sink sink;
    struct line_reader reader;
    unsigned served; /* lines so far */
    size_t received; /* bytes likewise */
    struct buffer unsent;

    struct stream_settings settings; /* the descriptors in it are owned; no principal */
    const struct stream_io *input;
    const struct stream_io *output;
    struct ev_io readable;
    struct ev_io writable;
    struct ev_timer stall;    /* running while output is unsent */
    struct ev_timer probe;    /* FINISHING: is the client still there? */
    struct ev_timer deadline; /* FINISHING, FLUSHING: for all of it */
};

/* Begins to serve. */
void stream_init(struct stream *stream, const struct stream_settings *settings);

/* Cancels what runs and closes the descriptors. Not below a call from the stream. */
void stream_deinit(struct stream *stream);

/* Bytes that were read before the stream began; at most LINE_READER_ROOM. */
void stream_receive(struct stream *stream, const char *bytes, size_t length);

/* Reads no more, cancels what runs, and gives the client a moment to take its output. Not below a
 * call from the stream. */
void stream_stop(struct stream *stream);

/* Goes on as far as can be without waiting; true when the stream is over. */
bool stream_settle(struct stream *stream);
