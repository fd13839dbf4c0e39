#include "tests/unit/transport/stream_peer.h"

#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static struct stream_peer *stream_peer_of(struct stream *stream)
{
    return CONTAINER_OF(stream, struct stream_peer, stream);
}

static void on_leaving(struct stream *stream)
{
    stream_peer_of(stream)->leavings++;
}

void stream_peer_begin(struct stream_peer *peer, int in, int out, double grace_seconds)
{
    stream_init(&peer->stream, &(struct stream_settings){
                                   .loop = peer->loop,
                                   .limits = &peer->limits,
                                   .principal = "uid:1",
                                   .in = in,
                                   .out = out,
                                   .grace_seconds = grace_seconds,
                                   .leaving = on_leaving,
                               });
    peer->is_open = true;
}

struct stream_peer *stream_peer_new(void)
{
    struct stream_peer *peer = NEW(struct stream_peer);

    session_double_reset();
    peer->loop = ev_loop_new(EVFLAG_AUTO);
    peer->limits = (struct transport_limits){
        .line_bytes = STREAM_PEER_LINE_BYTES,
        .unsent_bytes = STREAM_PEER_UNSENT_BYTES,
        .stall_seconds = STREAM_PEER_STALL_SECONDS,
    };
    peer->client = -1;
    return peer;
}

struct stream_peer *stream_peer_serve(int type, double grace_seconds)
{
    struct stream_peer *peer = stream_peer_new();
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    peer->client = ends[1];
    stream_peer_begin(peer, ends[0], ends[0], grace_seconds);
    return peer;
}

void stream_peer_hang_up(struct stream_peer *peer)
{
    close(peer->client);
    peer->client = -1;
}

void stream_peer_free(struct stream_peer *peer)
{
    if (peer->is_open)
        stream_deinit(&peer->stream);
    if (peer->client >= 0)
        close(peer->client);
    ev_loop_destroy(peer->loop);
    free(peer);
    assert_int_equal(session_double.live, 0);
}

bool stream_peer_is_over(struct stream_peer *peer)
{
    return peer->leavings > 0 && stream_settle(&peer->stream);
}

void stream_peer_say(struct stream_peer *peer, const char *bytes)
{
    assert_int_equal(write(peer->client, bytes, strlen(bytes)), strlen(bytes));
}
