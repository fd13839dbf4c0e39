/* What a client may take: time, and memory while it waits. */
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
#include <sys/socket.h>
#include <cmocka.h>

/* Says TEXT a byte at a time until the connection is closed; how long that took. */
static double drip(struct http_double *peer, const char *text, double pause, char *answer,
                   size_t size)
{
    ev_tstamp start = ev_time();
    size_t length = 0;

    answer[0] = '\0';
    for (; *text && turning_read(peer->client, answer, size, &length); text++) {
        (void)send(peer->client, text, 1, MSG_NOSIGNAL);
        turn_for(peer->loop, pause);
    }
    turn_until_closed(peer->loop, peer->client, answer + length, size - length);
    return ev_time() - start;
}

#define SLOW_HEAD                                                                                  \
    "GET / HTTP/1.1\r\nHost: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Fails unless a head that drips in has 0.3 seconds. */
static void check_slow_head(struct http_double *peer)
{
    char answer[1000];
    double seconds = drip(peer, SLOW_HEAD, 0.02, answer, sizeof answer);

    assert_int_equal(strncmp(answer, "HTTP/1.1 408 ", 13), 0);
    assert_true(seconds > 0.25 && seconds < 1);
}

static void test_a_head_that_drips_in_does_not_take_longer(void **state)
{
    struct http_double *peer = http_double_new();

    (void)state;
    peer->limits.head_seconds = 0.3;
    http_double_open(peer);
    check_slow_head(peer);
    http_double_free(peer);
}

static void test_the_next_head_has_as_long(void **state)
{
    struct http_double *peer = http_double_new();

    (void)state;
    peer->limits.head_seconds = 0.3;
    http_double_open(peer);
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("0", ""));
    turn_for(peer->loop, 0.4); /* it is idle meanwhile */
    check_slow_head(peer);
    http_double_free(peer);
}

static void test_who_asks_for_nothing_is_closed(void **state)
{
    struct http_double *peer = http_double_new();
    char *text;

    (void)state;
    peer->limits.head_seconds = 0.1;
    peer->limits.idle_seconds = 0.2;
    http_double_open(peer);
    text = http_double_read_to_end(peer);
    assert_string_equal(text, "");
    free(text);
    http_double_free(peer);

    peer = http_double_new();
    peer->limits.idle_seconds = 0.2;
    http_double_open(peer);
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("0", ""));
    text = http_double_read_to_end(peer);
    assert_string_equal(text, "");
    free(text);
    http_double_free(peer);
}

static void test_a_body_has_a_time_and_a_rate(void **state)
{
    static const struct {
        double seconds;
        double rate;
    } cases[] = {{0.3, 0}, {60, 10000}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct http_double *peer = http_double_new();
        char answer[1000];
        double seconds;

        peer->limits.body_seconds = cases[i].seconds;
        peer->limits.body_bytes_per_second = cases[i].rate;
        peer->limits.body_grace_seconds = 0.1;
        http_double_open(peer);
        http_double_say(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n");
        seconds = drip(peer, SLOW_HEAD, 0.02, answer, sizeof answer);
        assert_int_equal(strncmp(answer, "HTTP/1.1 408 ", 13), 0);
        assert_true(seconds > 0.1 && seconds < 1);
        assert_int_equal(peer->gone, 1);
        http_double_free(peer);
    }
}

static void test_a_client_that_takes_no_output_is_closed(void **state)
{
    struct http_double *peer = http_double_new();

    (void)state;
    peer->limits.stall_seconds = 0.2;
    http_double_open(peer);
    http_double_say(peer, "GET /fill?4000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->is_over);
    http_double_free(peer);
}

/* Early requests while one is served are bounded. */
static void test_no_more_is_read_ahead_than_a_bound(void **state)
{
    struct http_double *peer = http_double_new();
    char bytes[4096];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    peer->limits.read_ahead_bytes = 10000;
    http_double_open(peer);
    http_double_say(peer, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    for (unsigned i = 0; i < 500; i++) {
        (void)send(peer->client, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        ev_run(peer->loop, EVRUN_NOWAIT);
    }
    assert_true(send(peer->client, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0);
    assert_true(buffer_length(&peer->connection.input) < 100000);
    http_double_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_head_that_drips_in_does_not_take_longer),
        cmocka_unit_test(test_the_next_head_has_as_long),
        cmocka_unit_test(test_who_asks_for_nothing_is_closed),
        cmocka_unit_test(test_a_body_has_a_time_and_a_rate),
        cmocka_unit_test(test_a_client_that_takes_no_output_is_closed),
        cmocka_unit_test(test_no_more_is_read_ahead_than_a_bound),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
