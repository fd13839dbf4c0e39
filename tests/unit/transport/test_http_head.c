#include "server/transport/http/http_head.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* An array, and how long it is without its NUL: there are zero bytes in some. */
#define TEXT(LITERAL) LITERAL, sizeof(LITERAL) - 1

#define HOST "Host: a\r\n"
#define END  "\r\n"

/* Of exactly the size, so that a sanitizer sees a read beyond it. */
static unsigned parse(const char *text, size_t length, struct http_head *ret, char **ret_copy)
{
    *ret_copy = memory_new(length ? length : 1, 1);
    memcpy(*ret_copy, text, length);
    return http_head_parse(*ret_copy, length, ret);
}

static void test_reads_a_request(void **state)
{
    struct http_head head;
    unsigned count;
    char *copy;

    (void)state;
    assert_int_equal(parse(TEXT("POST /mcp/a%20b?c=d?e HTTP/1.1\r\n"
                                "host:localhost:80\r\n"
                                "Content-Type: \t application/json; a=\"b\" \t\r\n"
                                "Empty:\r\n"
                                "ACCEPT: text/event-stream\r\n"
                                "accept: */*\r\n"
                                "Content-Length: 0012\r\n" END),
                           &head, &copy),
                     0);
    assert_string_equal(head.method, "POST");
    assert_string_equal(head.path, "/mcp/a%20b");
    assert_string_equal(head.query, "c=d?e");
    assert_int_equal(head.minor, 1);
    assert_int_equal(head.field_count, 6);
    assert_string_equal(http_head_find(&head, "Host", NULL), "localhost:80");
    assert_string_equal(http_head_find(&head, "content-type", NULL), "application/json; a=\"b\"");
    assert_string_equal(http_head_find(&head, "Empty", NULL), "");
    assert_string_equal(http_head_find(&head, "Accept", &count), "text/event-stream");
    assert_int_equal(count, 2);
    assert_null(http_head_find(&head, "Conten", &count));
    assert_int_equal(count, 0);
    assert_int_equal(head.content_length, 12);
    assert_true(head.keep_alive);
    assert_false(head.is_chunked);
    assert_false(head.expects_continue);
    free(copy);
}

static const struct {
    const char *text;
    size_t length;
    bool keep_alive;
    bool is_chunked;
    bool expects_continue;
} accepted[] = {
    {TEXT("GET / HTTP/1.1\r\n" HOST END), true, false, false},
    {TEXT("GET / HTTP/1.0\r\n" END), false, false, false},
    {TEXT("GET / HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n" END), false, false, false},
    {TEXT("GET / HTTP/1.0\r\n" HOST "Expect: anything\r\n" END), false, false, false},
    {TEXT("GET / HTTP/1.1\r\n" HOST "Connection: close\r\n" END), false, false, false},
    {TEXT("GET / HTTP/1.1\r\n" HOST "Connection: x , Close,y\r\n" END), false, false, false},
    {TEXT("GET / HTTP/1.1\r\n" HOST "Connection: closed\r\n" END), true, false, false},
    {TEXT("GET / HTTP/1.1\r\n" HOST "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
          "HTTP2-Settings: AAM\r\n" END),
     true, false, false},
    {TEXT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n" END), true, true, false},
    {TEXT("POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\n" END), true, false, true},
    {TEXT("POST / HTTP/1.1\r\n" HOST "X: \xff\xc3\xa9\t\r\n" END), true, false, false},
};

static void test_says_how_body_and_connection_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
        struct http_head head;
        char *copy;

        print_message("%s\n", accepted[i].text);
        assert_int_equal(parse(accepted[i].text, accepted[i].length, &head, &copy), 0);
        assert_int_equal(head.keep_alive, accepted[i].keep_alive);
        assert_int_equal(head.is_chunked, accepted[i].is_chunked);
        assert_int_equal(head.expects_continue, accepted[i].expects_continue);
        free(copy);
    }
}

#define LENGTH "Content-Length: "
#define CODING "Transfer-Encoding: "

static const struct {
    const char *text;
    size_t length;
    unsigned status;
} refused[] = {
    /* the request line */
    {TEXT(""), 400},
    {TEXT("\r\n"), 400},
    {TEXT("\r\n\r\n"), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST), 400},
    {TEXT("GET /\r\n" HOST END), 400},
    {TEXT("GET  / HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET /  HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET\t/ HTTP/1.1\r\n" HOST END), 400},
    {TEXT(" GET / HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET / HTTP/1.1 \r\n" HOST END), 400},
    {TEXT("GET / http/1.1\r\n" HOST END), 400},
    {TEXT("GET / HTTP/11\r\n" HOST END), 400},
    {TEXT("GET / HTTP/1.1x\r\n" HOST END), 400},
    {TEXT("GET / HTTP/01.1\r\n" HOST END), 400},
    {TEXT("GET / HTTP/1.2\r\n" HOST END), 505},
    {TEXT("PRI * HTTP/2.0\r\n" END), 501},
    {TEXT("GET / HTTP/2.0\r\n" HOST END), 505},
    {TEXT("get / HTTP/1.1\r\n" HOST END), 501},
    {TEXT("CONNECT / HTTP/1.1\r\n" HOST END), 501},
    {TEXT("POSTX / HTTP/1.1\r\n" HOST END), 501},
    {TEXT("GET * HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET http://a/ HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET a/ HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET /#a HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET /\x80 HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET /\\ HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET /\0 HTTP/1.1\r\n" HOST END), 400},
    {TEXT("GET / HTTP/1.1\0\r\n" HOST END), 400},

    /* line breaks */
    {TEXT("GET / HTTP/1.1\n" HOST END), 400},
    {TEXT("GET / HTTP/1.1\r" HOST END), 400},
    {TEXT("GET / HTTP/1.1\r\r\n" HOST END), 400},
    {TEXT("GET / HTTP/1.1\r\nHost: a\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\nHost: a\r\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: \rTransfer-Encoding: chunked\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: \nTransfer-Encoding: chunked\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n " HOST END), 400},
    {TEXT("GET / HTTP/1.1\r\n" END HOST END), 400},

    /* fields */
    {TEXT("GET / HTTP/1.1\r\n" HOST "X : a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X Y: a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X\t: a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST ": a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X(: a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X\x80: a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X\0: a\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST HOST END), 400},
    {TEXT("GET / HTTP/1.0\r\n" HOST HOST END), 400},
    {TEXT("GET / HTTP/1.1\r\n" HOST "Expect: 100-continue, x\r\n" END), 417},
    {TEXT("GET / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nExpect: 100-continue\r\n" END), 417},

    /* the body's length, said twice or oddly */
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "5\r\n" CODING "chunked\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "chunked\r\n" LENGTH "5\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "5\r\n" LENGTH "6\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "5\r\n" LENGTH "5\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "5, 5\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "+7\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "-7\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "7\t\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "chunked \t \r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "7 7\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "7.0\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "0x7\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST LENGTH "18446744073709551621\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST "Content-Length : 5\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "identity\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "gzip, chunked\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "chunked, chunked\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "xchunked\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "chunked;a=b\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "\x0b"
          "chunked\r\n" END),
     400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "chunked\r\n" CODING "chunked\r\n" END), 400},
    {TEXT("POST / HTTP/1.1\r\n" HOST CODING "chunked\r\n" CODING "identity\r\n" END), 400},
    {TEXT("POST / HTTP/1.0\r\n" HOST CODING "chunked\r\n" END), 400},
};

static void test_refuses_what_another_might_read_differently(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct http_head head;
        char *copy;

        print_message("%.*s\n", (int)refused[i].length, refused[i].text);
        assert_int_equal(parse(refused[i].text, refused[i].length, &head, &copy),
                         refused[i].status);
        assert_non_null(head.problem);
        free(copy);
    }
}

/* A request of COUNT fields beside Host, each of LENGTH bytes with its line break. */
static char *make_request(unsigned count, size_t length)
{
    static const char start[] = "GET / HTTP/1.1\r\n" HOST;
    char *text = memory_new(strlen(start) + count * length + 3, 1);
    char *end = text + strlen(start);

    memcpy(text, start, strlen(start));
    for (unsigned i = 0; i < count; i++, end += length) {
        memset(end, 'x', length);
        end[1] = ':';
        memcpy(end + length - 2, "\r\n", 2);
    }
    memcpy(end, END, 3);
    return text;
}

static void test_bounds_the_number_of_fields_and_their_size(void **state)
{
    static const struct {
        unsigned count;
        size_t length;
        unsigned status;
    } cases[] = {
        {HTTP_HEAD_FIELDS - 1, 10, 0},
        {HTTP_HEAD_FIELDS, 10, 431},
        {1, HTTP_HEAD_BYTES - 27, 0},
        {1, HTTP_HEAD_BYTES - 26, 431},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *text = make_request(cases[i].count, cases[i].length);
        struct http_head head;

        assert_int_equal(http_head_parse(text, strlen(text), &head), cases[i].status);
        free(text);
    }
}

/* Where it ends */

static void test_finds_the_end_whatever_pieces_it_comes_in(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET";
    const size_t wanted = sizeof(text) - 1 - strlen("GET");

    (void)state;
    for (size_t step = 1; step < sizeof text; step++) {
        size_t scanned = 0;
        size_t length = 0;
        ssize_t end = 0;

        for (; end == 0; length += step) {
            char *copy = memory_format("%.*s", (int)length, text);

            assert_true(length < sizeof text + step);
            end = http_head_find_end(copy, strlen(copy), &scanned);
            free(copy);
        }
        assert_int_equal(end, wanted);
    }
}

static void test_knows_at_once_that_something_is_no_head(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {TEXT("\r")},
        {TEXT("\n")},
        {TEXT(" ")},
        {TEXT("\x16\x03\x01")},
        {TEXT("{\"jsonrpc\"")},
        {TEXT("GET / HTTP/1.1\n")},
        {TEXT("GET / HTTP/1.1\rH")},
        {TEXT("GET / HTTP/1.1\r\r")},
        {TEXT("GET /\0")},
        {TEXT("GET / HTTP/1.1\r\nHost: a\r\n\n")},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t scanned = 0;
        ssize_t end = 0;

        assert_int_equal(http_head_find_end(cases[i].text, cases[i].length, &scanned), -1);
        scanned = 0;
        for (size_t j = 0; j <= cases[i].length; j++)
            end = end < 0 ? end : http_head_find_end(cases[i].text, j, &scanned);
        assert_int_equal(end, -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_a_request),
        cmocka_unit_test(test_says_how_body_and_connection_go_on),
        cmocka_unit_test(test_refuses_what_another_might_read_differently),
        cmocka_unit_test(test_bounds_the_number_of_fields_and_their_size),
        cmocka_unit_test(test_finds_the_end_whatever_pieces_it_comes_in),
        cmocka_unit_test(test_knows_at_once_that_something_is_no_head),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
