/* A stream of the JSON-RPC transport with a session_double behind it, and its client. */
#pragma once

#include "server/transport/stream.h"

#include <ev.h>
#include <stdbool.h>

enum {
    STREAM_PEER_LINE_BYTES = 100,
    STREAM_PEER_UNSENT_BYTES = 1000,
    STREAM_PEER_FLOOD_BYTES = 1024 * 1024, /* more than any socket or pipe takes at once */
};

#define STREAM_PEER_STALL_SECONDS 1.5

struct stream_peer {
    struct ev_loop *loop;
    struct transport_limits limits;
    struct stream stream;
    int client; /* owned: the other side; -1 when closed */
    unsigned leavings;
    bool is_open;
};

/* Without a stream yet. */
struct stream_peer *stream_peer_new(void);

/* The stream over IN and OUT begins. */
void stream_peer_begin(struct stream_peer *peer, int in, int out, double grace_seconds);

/* A stream over a socket pair of TYPE; GRACE_SECONDS: the patience for what is left at the end. */
struct stream_peer *stream_peer_serve(int type, double grace_seconds);
void stream_peer_free(struct stream_peer *peer);

/* True once the stream has come to its end, which is noticed as its owner would. */
bool stream_peer_is_over(struct stream_peer *peer);

/* The client sends BYTES. */
void stream_peer_say(struct stream_peer *peer, const char *bytes);

/* The client closes its side. */
void stream_peer_hang_up(struct stream_peer *peer);
