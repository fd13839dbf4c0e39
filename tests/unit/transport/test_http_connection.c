#include "server/transport/http/http_connection.h"

#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/transport/http_double.h"
#include "tests/unit/transport/turning.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { TEXT_BYTES = 1024 * 1024 };

#define OK(LENGTH, BODY)                                                                           \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " LENGTH "\r\n\r\n" BODY
#define LAST_OK(LENGTH, BODY)                                                                      \
    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: " LENGTH  \
    "\r\n\r\n" BODY
#define STREAM                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"                                       \
    "Cache-Control: no-cache, no-transform\r\nX-Accel-Buffering: no\r\nX-Stream: yes\r\n"          \
    "Transfer-Encoding: chunked\r\n\r\n"

static struct http_double *serve(void)
{
    struct http_double *peer = http_double_new();

    http_double_open(peer);
    return peer;
}

/* What came back until the connection was closed, owned by the caller. */
static char *read_to_end(struct http_double *peer)
{
    char *text = memory_new(TEXT_BYTES, 1);

    turn_until_closed(peer->loop, peer->client, text, TEXT_BYTES);
    return text;
}

static void expect_last(struct http_double *peer, const char *status)
{
    char *text = read_to_end(peer);

    if (strncmp(text, status, strlen(status)) != 0)
        fail_msg("%s is not %s", text, status);
    assert_non_null(strstr(text, "Connection: close\r\n"));
    free(text);
}

/* Requests and responses */

static void test_serves_one_request_after_the_other(void **state)
{
    struct http_double *peer = serve();

    (void)state;
    http_double_ask(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
                    OK("3", "abc"));
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", OK("0", ""));
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "1\r\nx\r\nA;more\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
                    OK("11", "x0123456789"));
    assert_false(peer->is_closed);
    http_double_free(peer);
}

static void test_a_connection_that_cannot_be_watched_is_closed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct http_double *peer = serve();

        turn_with_failure(peer->loop,
                          i == 0 ? &peer->connection.readable : &peer->connection.writable);
        assert_true(peer->is_closed);
        http_double_free(peer);
    }
}

static void test_reads_a_request_that_comes_byte_by_byte(void **state)
{
    static const char text[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nab\r\n0\r\nA: b\r\n\r\n";
    struct http_double *peer = serve();

    (void)state;
    for (size_t i = 0; i + 1 < strlen(text); i++) {
        assert_int_equal(send(peer->client, text + i, 1, 0), 1);
        ev_run(peer->loop, EVRUN_NOWAIT);
    }
    http_double_ask(peer, "\n", OK("2", "ab"));
    http_double_free(peer);
}

static void test_serves_what_came_early_in_order(void **state)
{
    struct http_double *peer = serve();
    char wanted[2048] = "";

    (void)state;
    http_double_say(peer, "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1");
    for (unsigned i = 0; i < 30; i++) {
        http_double_say(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n2");
        strcat(wanted, i == 0 ? OK("5", "first") OK("1", "2") : OK("1", "2"));
    }
    TURN_UNTIL(peer->loop, peer->waiting);
    turn_for(peer->loop, 0.05);
    assert_int_equal(peer->requests, 1);
    http_double_respond(peer, "first");
    turn_until_received(peer->loop, peer->client, wanted);
    http_double_free(peer);
}

/* More than are kept, and more than are served at once. */
static void test_many_early_requests_are_all_served(void **state)
{
    static const char request[] = "GET /fill?1 HTTP/1.1\r\nHost: a\r\n\r\n";
    enum { COUNT = 3000 };
    struct http_double *peer = http_double_new();
    char *text = memory_new(TEXT_BYTES, 1);
    size_t length = 0;
    size_t sent = 0;

    (void)state;
    peer->limits.read_ahead_bytes = 5000;
    http_double_open(peer);
    TURN_UNTIL(peer->loop, ({
                   while (sent < COUNT * strlen(request)) {
                       size_t offset = sent % strlen(request);
                       ssize_t count = send(peer->client, request + offset,
                                            strlen(request) - offset, MSG_NOSIGNAL | MSG_DONTWAIT);

                       if (count < 0)
                           break;
                       sent += (size_t)count;
                   }
                   assert_true(turning_read(peer->client, text, TEXT_BYTES, &length));
                   assert_true(buffer_length(&peer->connection.input) < 50000);
                   length >= COUNT *strlen(OK("1", "f"));
               }));
    assert_int_equal(peer->requests, COUNT);
    free(text);
    http_double_free(peer);
}

static void test_refuses_what_is_no_request_and_closes(void **state)
{
    static const struct {
        const char *text;
        const char *status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400 "},
        {"GET / HTTP/1.1\rHost: a\r\r", "HTTP/1.1 400 "},
        {"\x16\x03\x01", "HTTP/1.1 400 "},
        {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 501 "},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1.1 505 "},
        {"GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", "HTTP/1.1 417 "},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
         "HTTP/1.1 400 "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct http_double *peer = serve();

        print_message("%s\n", cases[i].text);
        http_double_say(peer, cases[i].text);
        expect_last(peer, cases[i].status);
        http_double_free(peer);
    }
}

static void test_a_head_only_request_gets_a_head_only_response(void **state)
{
    struct http_double *peer = serve();

    (void)state;
    http_double_ask(peer, "HEAD /fill?5 HTTP/1.1\r\nHost: a\r\n\r\n", OK("5", ""));
    http_double_ask(peer, "GET /fill?5 HTTP/1.1\r\nHost: a\r\n\r\n", OK("5", "fffff"));
    http_double_free(peer);
}

static void test_closes_behind_the_last_response(void **state)
{
    static const char *const requests[] = {
        "GET /fill?1 HTTP/1.0\r\n\r\n",
        "GET /fill?1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        "GET /fill?1 HTTP/1.1\r\nHost: a\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
        struct http_double *peer = serve();
        char *text;

        http_double_say(peer, requests[i]);
        text = read_to_end(peer);
        assert_string_equal(text, LAST_OK("1", "f"));
        assert_int_equal(peer->requests, 1);
        free(text);
        http_double_free(peer);
    }
}

static void test_a_refused_head_does_not_wait_for_the_body(void **state)
{
    static const char refusal[] =
        "HTTP/1.1 404 Not Found\r\nX-Reason: none\r\nContent-Length: 0\r\n\r\n";
    struct http_double *peer = serve();

    (void)state;
    http_double_ask(peer, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n",
                    refusal);
    http_double_ask(peer, "0123456789POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok",
                    OK("2", "ok"));
    assert_int_equal(peer->heads, 2);
    assert_int_equal(peer->requests, 1);
    http_double_say(peer, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n");
    expect_last(peer, "HTTP/1.1 404 ");
    assert_int_equal(peer->gone, 0);
    http_double_free(peer);
}

/* Bodies */

static void test_gives_leave_to_send_a_body(void **state)
{
    struct http_double *peer = serve();

    (void)state;
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                    "Content-Length: 2\r\n\r\n",
                    "HTTP/1.1 100 Continue\r\n\r\n");
    http_double_ask(peer, "ab", OK("2", "ab"));
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                    "Content-Length: 2\r\n\r\nab",
                    OK("2", "ab"));
    http_double_say(peer, "POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                          "Content-Length: 11\r\n\r\n");
    expect_last(peer, "HTTP/1.1 413 ");
    assert_int_equal(peer->gone, 1);
    http_double_free(peer);
}

static void test_a_body_may_be_as_long_as_its_limit(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct http_double *peer = serve();

        if (i == 0) {
            http_double_ask(peer,
                            "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"
                            "0123456789",
                            OK("10", "0123456789"));
            http_double_say(peer, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
        } else {
            http_double_ask(peer,
                            "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                            "\r\nA\r\n0123456789\r\n0\r\n\r\n",
                            OK("10", "0123456789"));
            http_double_say(peer,
                            "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                            "\r\nA\r\n0123456789\r\n1\r\n");
        }
        expect_last(peer, "HTTP/1.1 413 ");
        assert_int_equal(peer->requests, 1);
        assert_int_equal(peer->gone, 1);
        http_double_free(peer);
    }
}

/* Sends LENGTH bytes, and reads nothing meanwhile; less when the connection is closed. */
static size_t send_on(struct http_double *peer, size_t length)
{
    char bytes[TURNING_PIECE] = {0};
    size_t sent = 0;

    while (sent < length) {
        size_t piece = length - sent < sizeof bytes ? length - sent : sizeof bytes;
        ssize_t count = send(peer->client, bytes, piece, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count < 0 && errno != EAGAIN)
            break;
        sent += count > 0 ? (size_t)count : 0;
        ev_run(peer->loop, EVRUN_NOWAIT);
    }
    return sent;
}

static void test_an_answer_is_not_lost_to_what_is_sent_all_the_same(void **state)
{
    struct http_double *peer = http_double_new();
    char *text;

    (void)state;
    peer->limits.linger_seconds = 0.2;
    http_double_open(peer);
    http_double_say(peer, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n");
    assert_int_equal(send_on(peer, 900000), 900000);
    assert_false(peer->is_over);
    text = read_to_end(peer);
    assert_int_equal(strncmp(text, "HTTP/1.1 413 ", 13), 0);
    assert_non_null(strstr(text, "too large\"}}"));
    TURN_UNTIL(peer->loop, peer->is_over);
    free(text);
    http_double_free(peer);
}

static void test_what_is_sent_behind_the_end_is_bounded(void **state)
{
    struct http_double *peer = http_double_new();
    size_t sent;

    (void)state;
    peer->limits.linger_seconds = 60;
    peer->limits.linger_bytes = 100000;
    http_double_open(peer);
    http_double_say(peer, "nonsense: 1\n");
    sent = send_on(peer, 10000000);
    assert_true(sent >= 100000 && sent < 1000000);
    assert_true(peer->is_over);
    http_double_free(peer);
}

/* Clients that are gone */

static void test_the_service_hears_at_once_that_a_client_is_gone(void **state)
{
    static const char *const requests[] = {
        "GET /later HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
        struct http_double *peer = serve();
        ev_tstamp closed;

        http_double_say(peer, requests[i]);
        TURN_UNTIL(peer->loop, peer->heads == 1);
        turn_once(peer->loop);
        assert_int_equal(peer->gone, 0);
        close(peer->client);
        peer->client = -1;
        closed = ev_time();
        TURN_UNTIL(peer->loop, peer->is_over);
        assert_true(ev_time() - closed < 0.2);
        assert_int_equal(peer->gone, 1);
        http_double_free(peer);
    }
}

static void test_a_client_that_ends_its_input_gets_what_is_ready(void **state)
{
    struct http_double *peer = serve();
    char *text;

    (void)state;
    http_double_say(peer, "GET /fill?1000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    shutdown(peer->client, SHUT_WR);
    text = read_to_end(peer);
    assert_int_equal(strlen(strstr(text, "\r\n\r\n")), 1000000 + 4);
    assert_int_equal(peer->gone, 0);
    free(text);
    http_double_free(peer);
}

static void test_an_exchange_that_is_given_up_is_not_told_about(void **state)
{
    struct http_double *peer = serve();
    char *text;

    (void)state;
    http_double_say(peer, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    http_exchange_abort(peer->waiting);
    text = read_to_end(peer);
    assert_string_equal(text, "");
    assert_int_equal(peer->gone, 0);
    free(text);
    http_double_free(peer);
}

static void test_there_may_be_no_room(void **state)
{
    struct http_double *peer = serve();

    (void)state;
    http_double_ask(peer, "GET /admit HTTP/1.1\r\nHost: a\r\n\r\n", OK("0", ""));
    peer->is_full = true;
    http_double_ask(peer, "GET /admit HTTP/1.1\r\nHost: a\r\n\r\n", OK("0", ""));
    http_double_free(peer);
    peer = serve();
    peer->is_full = true;
    http_double_say(peer, "GET /admit HTTP/1.1\r\nHost: a\r\n\r\n");
    expect_last(peer, "HTTP/1.1 503 ");
    assert_int_equal(peer->requests, 0);
    http_double_free(peer);
}

/* Time */

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

static void test_a_head_that_drips_in_does_not_take_longer(void **state)
{
    struct http_double *peer = http_double_new();
    char answer[1000];
    double seconds;

    (void)state;
    peer->limits.head_seconds = 0.3;
    http_double_open(peer);
    seconds = drip(peer, SLOW_HEAD, 0.02, answer, sizeof answer);
    assert_int_equal(strncmp(answer, "HTTP/1.1 408 ", 13), 0);
    assert_true(seconds > 0.25 && seconds < 1);
    http_double_free(peer);
}

static void test_the_next_head_has_as_long(void **state)
{
    struct http_double *peer = http_double_new();
    char answer[1000];
    double seconds;

    (void)state;
    peer->limits.head_seconds = 0.3;
    http_double_open(peer);
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", OK("0", ""));
    turn_for(peer->loop, 0.4); /* it is idle meanwhile */
    seconds = drip(peer, SLOW_HEAD, 0.02, answer, sizeof answer);
    assert_int_equal(strncmp(answer, "HTTP/1.1 408 ", 13), 0);
    assert_true(seconds > 0.25 && seconds < 1);
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
    text = read_to_end(peer);
    assert_string_equal(text, "");
    free(text);
    http_double_free(peer);

    peer = http_double_new();
    peer->limits.idle_seconds = 0.2;
    http_double_open(peer);
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", OK("0", ""));
    text = read_to_end(peer);
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

/* Streams of events */

static void send_event(struct http_double *peer, const char *data)
{
    assert_true(http_stream_send(peer->waiting, NULL, "message", data, strlen(data)));
}

static void test_a_stream_is_chunked_and_the_connection_goes_on(void **state)
{
    struct http_double *peer = serve();

    (void)state;
    http_double_ask(peer, "POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
                    STREAM);
    send_event(peer, "{}");
    turn_until_received(peer->loop, peer->client, "19\r\nevent: message\ndata: {}\n\n\r\n");
    assert_true(http_stream_send_retry(peer->waiting, "7", 20));
    turn_until_received(peer->loop, peer->client, "18\r\nid: 7\nretry: 20\ndata: \n\n\r\n");
    http_stream_end(peer->waiting);
    turn_until_received(peer->loop, peer->client, "0\r\n\r\n");
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", OK("0", ""));
    assert_int_equal(peer->gone, 0);
    http_double_free(peer);
}

static void test_a_stream_of_http_1_0_ends_with_the_connection(void **state)
{
    struct http_double *peer = serve();
    char *text;

    (void)state;
    http_double_say(peer, "GET /stream HTTP/1.0\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    send_event(peer, "{}");
    http_stream_end(peer->waiting);
    text = read_to_end(peer);
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
    char *text = memory_new(TEXT_BYTES, 1);
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
                   assert_true(turning_read(peer->client, text, TEXT_BYTES, &length));
                   peer->drained == 1;
               }));
    assert_true(http_stream_send(peer->waiting, NULL, NULL, "", 0));
    free(data);
    free(text);
    http_double_free(peer);
}

static void test_who_has_completed_a_response_is_not_told_that_nobody_takes_it(void **state)
{
    struct http_double *peer = http_double_new();
    char *data = memory_new(200000, 1);

    (void)state;
    memset(data, 'x', 200000);
    peer->limits.congested_bytes = 50000;
    peer->limits.unsent_bytes = 1000000;
    http_double_open(peer);
    http_double_say(peer, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    for (unsigned i = 0; i < 20; i++)
        (void)http_stream_send(peer->waiting, NULL, NULL, data, 200000);
    http_stream_end(peer->waiting);
    TURN_UNTIL(peer->loop, peer->is_over);
    assert_int_equal(peer->gone, 0);
    free(data);
    http_double_free(peer);
}

static void test_a_client_that_leaves_too_much_untaken_is_closed(void **state)
{
    struct http_double *peer = http_double_new();
    char *data = memory_new(200000, 1);

    (void)state;
    memset(data, 'x', 200000);
    peer->limits.congested_bytes = 50000;
    peer->limits.unsent_bytes = 1000000;
    http_double_open(peer);
    http_double_say(peer, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    for (unsigned i = 0; i < 20; i++)
        (void)http_stream_send(peer->waiting, NULL, NULL, data, 200000);
    assert_int_equal(peer->gone, 0); /* never below a call of its own */
    TURN_UNTIL(peer->loop, peer->is_over);
    assert_int_equal(peer->gone, 1);
    free(data);
    http_double_free(peer);
}

/* Channels that keep bytes, as TLS does */

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
                    OK("50", "01234567890123456789012345678901234567890123456789"));
    TURN_UNTIL(peer->loop, peer->waiting);
    http_double_respond(peer, "x");
    turn_until_received(peer->loop, peer->client, OK("1", "x") OK("0", ""));
    close(peer->client);
    peer->client = -1;
    TURN_UNTIL(peer->loop, peer->is_over);
    http_double_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serves_one_request_after_the_other),
        cmocka_unit_test(test_a_connection_that_cannot_be_watched_is_closed),
        cmocka_unit_test(test_reads_a_request_that_comes_byte_by_byte),
        cmocka_unit_test(test_serves_what_came_early_in_order),
        cmocka_unit_test(test_many_early_requests_are_all_served),
        cmocka_unit_test(test_refuses_what_is_no_request_and_closes),
        cmocka_unit_test(test_a_head_only_request_gets_a_head_only_response),
        cmocka_unit_test(test_closes_behind_the_last_response),
        cmocka_unit_test(test_a_refused_head_does_not_wait_for_the_body),
        cmocka_unit_test(test_gives_leave_to_send_a_body),
        cmocka_unit_test(test_a_body_may_be_as_long_as_its_limit),
        cmocka_unit_test(test_an_answer_is_not_lost_to_what_is_sent_all_the_same),
        cmocka_unit_test(test_what_is_sent_behind_the_end_is_bounded),
        cmocka_unit_test(test_the_service_hears_at_once_that_a_client_is_gone),
        cmocka_unit_test(test_a_client_that_ends_its_input_gets_what_is_ready),
        cmocka_unit_test(test_an_exchange_that_is_given_up_is_not_told_about),
        cmocka_unit_test(test_there_may_be_no_room),
        cmocka_unit_test(test_a_head_that_drips_in_does_not_take_longer),
        cmocka_unit_test(test_the_next_head_has_as_long),
        cmocka_unit_test(test_who_asks_for_nothing_is_closed),
        cmocka_unit_test(test_a_body_has_a_time_and_a_rate),
        cmocka_unit_test(test_a_client_that_takes_no_output_is_closed),
        cmocka_unit_test(test_no_more_is_read_ahead_than_a_bound),
        cmocka_unit_test(test_a_stream_is_chunked_and_the_connection_goes_on),
        cmocka_unit_test(test_a_stream_of_http_1_0_ends_with_the_connection),
        cmocka_unit_test(test_a_stream_is_never_silent_for_long),
        cmocka_unit_test(test_a_slow_client_is_told_of_and_later_that_it_goes_on),
        cmocka_unit_test(test_who_has_completed_a_response_is_not_told_that_nobody_takes_it),
        cmocka_unit_test(test_a_client_that_leaves_too_much_untaken_is_closed),
        cmocka_unit_test(test_what_a_channel_keeps_is_read_too),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
