/* The streams of a container without the engine between, where both are on this machine.
 *
 * The output of a container goes through several processes of its engine, which costs more than a
 * script that prints one line. So a container finds a socket of the server's at DOCKER_STREAMS. Its
 * init connects to it before anything else runs there, says hello, and gets two pipes in return:
 * its program prints into them. The socket is the wire (engine/init_protocol.h), and the input of
 * the init.
 *
 * The socket by which a script calls tools goes to the init beside the pipes, or, if its script
 * comes later, beside the go. No path in the container leads there.
 *
 * A container that stays, to be looked at, gets no pipes: its program prints to the engine, which
 * keeps it, and only the wire is here.
 *
 * An init that cannot connect, or whose connection ends before the pipes come, keeps the streams of
 * the engine. Only the first connection is accepted, and the init connects first: what hinders it
 * would hinder a script, too. So nobody else can pass for the init. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "environments/engine/frames.h"
#include "environments/engine/init_protocol.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum direct_streams_state {
    DIRECT_STREAMS_NONE,    /* the engine's are used */
    DIRECT_STREAMS_OFFERED, /* nobody has connected */
    DIRECT_STREAMS_ASKED,   /* a process has connected and has to say hello */
    DIRECT_STREAMS_READY,
};

struct direct_streams {
    /* Inputs, which must not end STREAMS. Takes what the program prints; STREAM is stdout or
     * stderr. */
    void (*output)(struct direct_streams *streams, enum frame_stream stream, const char *data,
                   size_t length);

    /* Takes DATA of the wire, after all output from before it. */
    void (*said)(struct direct_streams *streams, const char *data, size_t length);

    bool is_plain; /* the program prints to the engine */

    /* Private. */
    struct ev_loop *loop; /* borrowed */
    enum direct_streams_state state;
    char *path;                    /* owned: of the socket, while it is there */
    int socket;                    /* owned: listens, or is connected to the init; or -1 */
    int pipes[FRAME_STREAMS];      /* owned: to read from; or -1 */
    int tools;                     /* owned: has not been sent yet; or -1 */
    struct buffer unsaid;          /* orders for the init */
    ev_io room;                    /* for more orders */
    ev_io watchers[FRAME_STREAMS]; /* of the pipes */
    ev_io socket_watcher;
};

/* STREAMS is zeroed but for its inputs. After this all other functions are harmless. */
void direct_streams_init(struct direct_streams *streams, struct ev_loop *loop);

/* Listens at PATH, where nothing is yet, for an init of any user. Others do not reach its folder.
 * -1 with ERR. */
int direct_streams_offer(struct direct_streams *streams, const char *path, struct error *err);

/* The path of the socket while it is offered, borrowed; else NULL. */
const char *direct_streams_path(const struct direct_streams *streams);

/* Nobody has taken the offer, and the engine's streams are used: ends it, so that no script can
 * take it. */
void direct_streams_withdraw(struct direct_streams *streams);

bool direct_streams_are_ready(const struct direct_streams *streams);

/* An init may still take the offer. */
bool direct_streams_are_offered(const struct direct_streams *streams);

/* The init gets TOOLS (borrowed), the socket by which its script calls tools, as soon as it can. */
void direct_streams_give_tools(struct direct_streams *streams, int tools);

/* The wire is here, and what the program prints comes from the engine. */
bool direct_streams_are_plain(const struct direct_streams *streams);

/* Sends DATA, frames of the wire, to the init. -1 with ERR: it does not read them. */
int direct_streams_tell(struct direct_streams *streams, const char *data, size_t length,
                        struct error *err);

/* The container has ended: hands on what is still in the pipes and on the wire. Does not wait for
 * further output, which comes if the engine could not end the container. */
void direct_streams_read_rest(struct direct_streams *streams);
void direct_streams_end(struct direct_streams *streams);
