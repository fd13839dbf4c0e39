#include "server/transport/http/http_connection.h"

#include "base/memory.h"
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

#define LAST_OK(LENGTH, BODY)                                                                      \
    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: " LENGTH  \
    "\r\n\r\n" BODY

static void expect_last(struct http_double *peer, const char *status)
{
    char *text = http_double_read_to_end(peer);

    if (strncmp(text, status, strlen(status)) != 0)
        fail_msg("%s is not %s", text, status);
    assert_non_null(strstr(text, "Connection: close\r\n"));
    free(text);
}

/* Requests and responses */

static void test_serves_one_request_after_the_other(void **state)
{
    struct http_double *peer = http_double_serve();

    (void)state;
    http_double_ask(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
                    HTTP_DOUBLE_OK("3", "abc"));
    http_double_ask(peer, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("0", ""));
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "1\r\nx\r\nA;more\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
                    HTTP_DOUBLE_OK("11", "x0123456789"));
    assert_false(peer->is_closed);
    http_double_free(peer);
}

static void test_a_connection_that_cannot_be_watched_is_closed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct http_double *peer = http_double_serve();

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
    struct http_double *peer = http_double_serve();

    (void)state;
    for (size_t i = 0; i + 1 < strlen(text); i++) {
        assert_int_equal(send(peer->client, text + i, 1, 0), 1);
        ev_run(peer->loop, EVRUN_NOWAIT);
    }
    http_double_ask(peer, "\n", HTTP_DOUBLE_OK("2", "ab"));
    http_double_free(peer);
}

static void test_serves_what_came_early_in_order(void **state)
{
    struct http_double *peer = http_double_serve();
    char wanted[2048] = "";

    (void)state;
    http_double_say(peer, "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1");
    for (unsigned i = 0; i < 30; i++) {
        http_double_say(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n2");
        strcat(wanted, i == 0 ? HTTP_DOUBLE_OK("5", "first") HTTP_DOUBLE_OK("1", "2")
                              : HTTP_DOUBLE_OK("1", "2"));
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
    char *text = memory_new(HTTP_DOUBLE_TEXT_BYTES, 1);
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
                   assert_true(turning_read(peer->client, text, HTTP_DOUBLE_TEXT_BYTES, &length));
                   assert_true(buffer_length(&peer->connection.input) < 50000);
                   length >= COUNT *strlen(HTTP_DOUBLE_OK("1", "f"));
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
        struct http_double *peer = http_double_serve();

        print_message("%s\n", cases[i].text);
        http_double_say(peer, cases[i].text);
        expect_last(peer, cases[i].status);
        http_double_free(peer);
    }
}

static void test_a_head_only_request_gets_a_head_only_response(void **state)
{
    struct http_double *peer = http_double_serve();

    (void)state;
    http_double_ask(peer, "HEAD /fill?5 HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("5", ""));
    http_double_ask(peer, "GET /fill?5 HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("5", "fffff"));
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
        struct http_double *peer = http_double_serve();
        char *text;

        http_double_say(peer, requests[i]);
        text = http_double_read_to_end(peer);
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
    struct http_double *peer = http_double_serve();

    (void)state;
    http_double_ask(peer, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n",
                    refusal);
    http_double_ask(peer, "0123456789POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok",
                    HTTP_DOUBLE_OK("2", "ok"));
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
    struct http_double *peer = http_double_serve();

    (void)state;
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                    "Content-Length: 2\r\n\r\n",
                    "HTTP/1.1 100 Continue\r\n\r\n");
    http_double_ask(peer, "ab", HTTP_DOUBLE_OK("2", "ab"));
    http_double_ask(peer,
                    "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                    "Content-Length: 2\r\n\r\nab",
                    HTTP_DOUBLE_OK("2", "ab"));
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
        struct http_double *peer = http_double_serve();

        if (i == 0) {
            http_double_ask(peer,
                            "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"
                            "0123456789",
                            HTTP_DOUBLE_OK("10", "0123456789"));
            http_double_say(peer, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
        } else {
            http_double_ask(peer,
                            "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                            "\r\nA\r\n0123456789\r\n0\r\n\r\n",
                            HTTP_DOUBLE_OK("10", "0123456789"));
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
    text = http_double_read_to_end(peer);
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
        struct http_double *peer = http_double_serve();

        http_double_say(peer, requests[i]);
        TURN_UNTIL(peer->loop, peer->heads == 1);
        turn_once(peer->loop);
        assert_int_equal(peer->gone, 0);
        close(peer->client);
        peer->client = -1;
        TURN_UNTIL(peer->loop, peer->is_over);
        assert_int_equal(peer->gone, 1);
        http_double_free(peer);
    }
}

static void test_a_client_that_ends_its_input_gets_what_is_ready(void **state)
{
    struct http_double *peer = http_double_serve();
    char *text;

    (void)state;
    http_double_say(peer, "GET /fill?1000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    shutdown(peer->client, SHUT_WR);
    text = http_double_read_to_end(peer);
    assert_int_equal(strlen(strstr(text, "\r\n\r\n")), 1000000 + 4);
    assert_int_equal(peer->gone, 0);
    free(text);
    http_double_free(peer);
}

static void test_an_exchange_that_is_given_up_is_not_told_about(void **state)
{
    struct http_double *peer = http_double_serve();
    char *text;

    (void)state;
    http_double_say(peer, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    TURN_UNTIL(peer->loop, peer->waiting);
    http_exchange_abort(peer->waiting);
    text = http_double_read_to_end(peer);
    assert_string_equal(text, "");
    assert_int_equal(peer->gone, 0);
    free(text);
    http_double_free(peer);
}

static void test_there_may_be_no_room(void **state)
{
    struct http_double *peer = http_double_serve();

    (void)state;
    http_double_ask(peer, "GET /admit HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("0", ""));
    peer->is_full = true;
    http_double_ask(peer, "GET /admit HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_DOUBLE_OK("0", ""));
    http_double_free(peer);
    peer = http_double_serve();
    peer->is_full = true;
    http_double_say(peer, "GET /admit HTTP/1.1\r\nHost: a\r\n\r\n");
    expect_last(peer, "HTTP/1.1 503 ");
    assert_int_equal(peer->requests, 0);
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
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
