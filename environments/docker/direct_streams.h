/* The streams of a container without the engine between, where both are on this machine.
 *
 * The output of a container goes through several processes of its engine, which costs more than a
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
    DIRECT_STREAMS_ASKED,   /* a process has connected and has to send the nonce */
    DIRECT_STREAMS_READY,
};

struct direct_streams {
    /* Inputs. Takes output of the container; must not end STREAMS. STREAM is stdout or stderr. */
    void (*output)(struct direct_streams *streams, enum frame_stream stream, const char *data,
                   size_t length);

    /* Private. */
    struct ev_loop *loop; /* borrowed */
    enum direct_streams_state state;
    char *path;                    /* owned: of the socket, while it is there */
    char nonce[LAST_WORDS_NONCE];  /* the init has to send it */
    int socket;                    /* owned: listens, or is connected to the init; or -1 */
    int pipes[FRAME_STREAMS];      /* owned: to read from; or -1 */
    ev_io watchers[FRAME_STREAMS]; /* of the pipes */
    ev_io socket_watcher;
};

/* STREAMS is zeroed but for its input. After this all other functions are harmless. */
void direct_streams_init(struct direct_streams *streams, struct ev_loop *loop);

/* Listens at PATH, where nothing is yet, for an init that knows NONCE. -1 with ERR. */
int direct_streams_offer(struct direct_streams *streams, const char *path, const char *nonce,
                         struct error *err);

/* The path of the socket while it is offered, borrowed; else NULL. */
const char *direct_streams_path(const struct direct_streams *streams);

/* Moves streams that are READY to TO, which has been initialised; ends the others. */
void direct_streams_move(struct direct_streams *from, struct direct_streams *to);
bool direct_streams_are_ready(const struct direct_streams *streams);

/* Sends DATA to the init and ends its input. */
void direct_streams_tell(struct direct_streams *streams, const char *data, size_t length);

/* The container has ended: hands on the output that is still in the pipes. Does not wait for
 * further output, which comes if the engine could not end the container. */
void direct_streams_read_rest(struct direct_streams *streams);
void direct_streams_end(struct direct_streams *streams);
