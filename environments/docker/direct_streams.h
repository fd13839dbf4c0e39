/* The streams of a container without the engine between, where both are on this machine.
 *
 * What a container prints goes through several processes of its engine, which costs more than a
 * script that prints one line. So a container that waits for its script finds a socket of the
 * server's at DOCKER_STREAMS. Its init connects to it before anything else runs there, sends the
 * nonce of its last words, and gets two pipes in return; they become its output, and the socket its
 * input. Everything else is as with the engine's streams: the go (engine/go.h), its answer, the
 * last words.
 *
 * An init that cannot connect, or whose connection ends before the pipes come, keeps the streams of
 * the engine. */
#pragma once

#include "base/error.h"
#include "environments/engine/frames.h"
#include "environments/engine/last_words.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum direct_streams_state {
    DIRECT_STREAMS_NONE,    /* the engine's are used */
    DIRECT_STREAMS_OFFERED, /* nobody has connected */
    DIRECT_STREAMS_ASKED,   /* somebody has, and has to send the nonce */
    DIRECT_STREAMS_READY,
};

struct direct_streams {
    /* Inputs. What one of them prints; it must not end them. STREAM is none that an engine invents.
     */
    void (*output)(struct direct_streams *streams, enum frame_stream stream, const char *data,
                   size_t length);

    /* Private. */
    struct ev_loop *loop; /* borrowed */
    enum direct_streams_state state;
    char *path;                    /* owned: of the socket, while it is there */
    char nonce[LAST_WORDS_NONCE];  /* that the init has to send */
    int socket;                    /* owned: it listens, or leads to the init; or -1 */
    int pipes[FRAME_STREAMS];      /* owned: to read from; or -1 */
    ev_io watchers[FRAME_STREAMS]; /* of them */
    ev_io socket_watcher;
};

/* STREAMS is zeroed but for its input. From then on all others are harmless. */
void direct_streams_init(struct direct_streams *streams, struct ev_loop *loop);

/* Listens at PATH, where nothing is yet, for an init that knows NONCE. -1 with ERR. */
int direct_streams_offer(struct direct_streams *streams, const char *path, const char *nonce,
                         struct error *err);

/* NULL: there is no offer. Borrowed. */
const char *direct_streams_path(const struct direct_streams *streams);

/* Moves them to TO, which has been initialised. What is not ready yet is withdrawn. */
void direct_streams_move(struct direct_streams *from, struct direct_streams *to);
bool direct_streams_are_ready(const struct direct_streams *streams);

/* The last that the init is told. */
void direct_streams_tell(struct direct_streams *streams, const char *data, size_t length);

/* The container has ended: hands on what is still in the pipes. Where its engine could not end it,
 * it may go on to print, which is not waited for. */
void direct_streams_read_rest(struct direct_streams *streams);
void direct_streams_end(struct direct_streams *streams);
