/* A channel that keeps bytes, as TLS does. */
#include "base/list.h"
#include "base/memory.h"
#include "server/transport/http/http_connection.h"
#include "tests/unit/transport/http_double.h"
#include "tests/unit/transport/turning.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { KEEPING_PIECE = 30 };

/* Reads all there is, and hands it out in small pieces. */
struct keeping_channel {
    struct http_channel channel;
    char kept[TURNING_PIECE];
    size_t start;
    size_t end;
    bool is_shaken; /* the first read waits until the socket is writable */
};

static ssize_t keeping_read(struct http_channel *channel, void *data, size_t size)
{
    struct keeping_channel *keeping = CONTAINER_OF(channel, struct keeping_channel, channel);
    size_t length;

    channel->reads_on_write = !keeping->is_shaken;
    if (!keeping->is_shaken) {
        keeping->is_shaken = true;
        errno = EAGAIN;
        return -1;
    }
    if (keeping->start == keeping->end) {
        ssize_t count = recv(channel->fd, keeping->kept, sizeof keeping->kept, MSG_DONTWAIT);

        if (count <= 0)
            return count;
        keeping->start = 0;
        keeping->end = (size_t)count;
    }
    length = keeping->end - keeping->start < KEEPING_PIECE ? keeping->end - keeping->start
                                                           : KEEPING_PIECE;
    assert_true(length <= size);
    memcpy(data, keeping->kept + keeping->start, length);
    keeping->start += length;
    channel->has_pending = keeping->start < keeping->end;
    return (ssize_t)length;
}

static ssize_t keeping_write(struct http_channel *channel, const struct iovec *parts, int count)
{
    return writev(channel->fd, parts, count);
}

static void keeping_shutdown(struct http_channel *channel)
{
    shutdown(channel->fd, SHUT_WR);
}

static void keeping_free(struct http_channel *channel)
{
    close(channel->fd);
    free(CONTAINER_OF(channel, struct keeping_channel, channel));
}

static struct http_channel *keeping_channel_new(int fd)
{
    static const struct channel_ops ops = {keeping_read, keeping_write, keeping_shutdown,
                                           keeping_free};
    struct keeping_channel *keeping = NEW(struct keeping_channel);

    keeping->channel = (struct http_channel){.ops = &ops, .fd = fd};
    return &keeping->channel;
}

static void test_what_a_channel_keeps_is_read_too(void **state)
{
    struct http_double *peer = http_double_new();

    (void)state;
    peer->make_channel = keeping_channel_new;
    http_double_open(peer);
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n"
                    "01234567890123456789012345678901234567890123456789"
                    "GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\nHost: a\r\n\r\n",
                    HTTP_DOUBLE_OK("50", "01234567890123456789012345678901234567890123456789"));
    TURN_UNTIL(peer->loop, peer->waiting);
    http_double_respond(peer, "x");
    turn_until_received(peer->loop, peer->client, HTTP_DOUBLE_OK("1", "x") HTTP_DOUBLE_OK("0", ""));
    close(peer->client);
    peer->client = -1;
    TURN_UNTIL(peer->loop, peer->is_over);
    http_double_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_channel_keeps_is_read_too),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
