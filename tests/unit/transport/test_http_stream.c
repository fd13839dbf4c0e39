/* Streams of events over a connection. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/http/http_connection.h"
#include "tests/unit/transport/http_double.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define STREAM                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"                                       \
    "Cache-Control: no-cache, no-transform\r\nX-Accel-Buffering: no\r\nX-Stream: yes\r\n"          \
    "Transfer-Encoding: chunked\r\n\r\n"

static void send_event(struct http_double *peer, const char *data)
{
    assert_true(http_stream_send(peer->waiting, NULL, "message", data, strlen(data)));
}

static void test_a_stream_is_chunked_and_the_connection_goes_on(void **state)
{
    struct http_double *peer = http_double_serve();

    (void)state;
    http_double_ask(peer, "POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
                    STREAM);
    send_event(peer, "{}");
    turn_until_received(peer->loop, peer->client, "19\r\nevent: message\ndata: {}\n\n\r\n");
    assert_true(http_stream_send_retry(peer->waiting, "7", 20));
    turn_until_received(peer->loop, peer->client, "18\r\nid: 7\nretry: 20\ndata: \n\n\r\n");
    http_stream_end(peer->waiting);
    turn_until_received(peer->loop, peer->client, "0\r\n\r\n");
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("0", ""));
    assert_int_equal(peer->gone, 0);
    http_double_free(peer);
}

static void test_a_stream_of_http_1_0_ends_with_the_connection(void **state)
{
    struct http_double *peer = http_double_serve();
    char *text;

    (void)state;
    http_double_say(peer, "GET /stream HTTP/1.0\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    send_event(peer, "{}");
    http_stream_end(peer->waiting);
    text = http_double_read_to_end(peer);
    assert_null(strstr(text, "chunked"));
    assert_non_null(strstr(text, "Connection: close\r\n"));
    assert_non_null(strstr(text, "\r\n\r\nevent: message\ndata: {}\n\n"));
    free(text);
    http_double_free(peer);
}

static void test_a_stream_is_never_silent_for_long(void **state)
{
    struct http_double *peer = http_double_new();

    (void)state;
    peer->limits.comment_seconds = 0.1;
    http_double_open(peer);
    http_double_ask(peer, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n",
                    STREAM "d\r\n: keepalive\n\n\r\nd\r\n: keepalive\n\n\r\n");
    http_double_free(peer);
}

static void test_a_slow_client_is_told_of_and_later_that_it_goes_on(void **state)
{
    struct http_double *peer = http_double_new();
    char *data = memory_new(10001, 1);
    char *text = memory_new(HTTP_DOUBLE_TEXT_BYTES, 1);
    size_t length = 0;

    (void)state;
    memset(data, 'x', 10000);
    peer->limits.congested_bytes = 50000;
    http_double_open(peer);
    http_double_say(peer, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    while (http_stream_send(peer->waiting, NULL, NULL, data, 10000))
        ;
    assert_true(http_writer_unsent(&peer->connection.writer) < 70000);
    turn_for(peer->loop, 0.05);
    assert_int_equal(peer->drained, 0);
    TURN_UNTIL(peer->loop, ({
                   assert_true(turning_read(peer->client, text, HTTP_DOUBLE_TEXT_BYTES, &length));
                   peer->drained == 1;
               }));
    assert_true(http_stream_send(peer->waiting, NULL, NULL, "", 0));
    free(data);
    free(text);
    http_double_free(peer);
}

/* A stream with much more in it than its client, which reads nothing, may leave untaken. */
static struct http_double *flood(void)
{
    struct http_double *peer = http_double_new();
    AUTO_FREE char *data = memory_new(200000, 1);

    memset(data, 'x', 200000);
    peer->limits.congested_bytes = 50000;
    peer->limits.unsent_bytes = 1000000;
    http_double_open(peer);
    http_double_say(peer, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    for (unsigned i = 0; i < 20; i++)
        (void)http_stream_send(peer->waiting, NULL, NULL, data, 200000);
    return peer;
}

static void test_who_has_completed_a_response_is_not_told_that_nobody_takes_it(void **state)
{
    struct http_double *peer = flood();

    (void)state;
    http_stream_end(peer->waiting);
    TURN_UNTIL(peer->loop, peer->is_over);
    assert_int_equal(peer->gone, 0);
    http_double_free(peer);
}

static void test_a_client_that_leaves_too_much_untaken_is_closed(void **state)
{
    struct http_double *peer = flood();

    (void)state;
    assert_int_equal(peer->gone, 0); /* never below a call of its own */
    TURN_UNTIL(peer->loop, peer->is_over);
    assert_int_equal(peer->gone, 1);
    http_double_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_is_chunked_and_the_connection_goes_on),
        cmocka_unit_test(test_a_stream_of_http_1_0_ends_with_the_connection),
        cmocka_unit_test(test_a_stream_is_never_silent_for_long),
        cmocka_unit_test(test_a_slow_client_is_told_of_and_later_that_it_goes_on),
        cmocka_unit_test(test_who_has_completed_a_response_is_not_told_that_nobody_takes_it),
        cmocka_unit_test(test_a_client_that_leaves_too_much_untaken_is_closed),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
