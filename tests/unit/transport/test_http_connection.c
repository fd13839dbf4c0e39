#include "server/transport/http/http_connection.h"

#include "base/memory.h"
#include "tests/unit/transport/http_double.h"
#include "tests/unit/transport/turning.h"

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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_double *peer = serve();

        print_message("%s\n", cases[i].text);
        http_double_say(peer, cases[i].text);
        expect_last(peer, cases[i].status);
        http_double_free(peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serves_one_request_after_the_other),
        cmocka_unit_test(test_reads_a_request_that_comes_byte_by_byte),
        cmocka_unit_test(test_serves_what_came_early_in_order),
        cmocka_unit_test(test_refuses_what_is_no_request_and_closes),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
