#include "environments/engine/response_head.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static int parse(const char *text, struct response_head *ret)
{
    struct error err = ERROR_INIT;

    return response_head_parse(text, strlen(text), ret, &err);
}

static void test_heads_of_engines(void **state)
{
    static const struct {
        const char *text;
        struct response_head expected; /* but for its length */
    } heads[] = {
        {"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
         "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n",
         {.status = 101}},
        {"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n",
         {.status = 200}},
        {"HTTP/1.1 404 Not Found\r\nContent-Length:  37 \r\n\r\n",
         {.status = 404, .has_length = true, .body_length = 37}},
        {"HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n",
         {.status = 409, .is_transformed = true}},
        {"HTTP/1.0 500\r\n\r\n", {.status = 500}},
        {"HTTP/1.1 204 \r\nX-Empty:\r\nX-Other: a\tb \xc3\xbc\r\n\r\n", {.status = 204}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
        struct response_head head;

        assert_int_equal(parse(heads[i].text, &head), 1);
        assert_int_equal(head.status, heads[i].expected.status);
        assert_int_equal(head.length, strlen(heads[i].text));
        assert_int_equal(head.has_length, heads[i].expected.has_length);
        assert_int_equal(head.body_length, heads[i].expected.body_length);
        assert_int_equal(head.is_transformed, heads[i].expected.is_transformed);
    }
}

static void test_more_is_needed_until_the_empty_line(void **state)
{
    static const char text[] = "HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\n\1\0\0\0";
    struct error err = ERROR_INIT;
    struct response_head head;

    (void)state;
    for (size_t length = 0; length < strlen(text) - 1; length++)
        assert_int_equal(response_head_parse(text, length, &head, &err), 0);
    assert_int_equal(response_head_parse(text, sizeof text - 1, &head, &err), 1);
    assert_int_equal(head.length, strlen(text) - 1);
}

static void test_what_is_no_head_is_an_error(void **state)
{
    static const char *const garbled[] = {
        "\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 600 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\nX: y\r\n\r\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname : value\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded: value\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname: a\rb\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(garbled); i++) {
        struct response_head head;

        if (parse(garbled[i], &head) != -1)
            fail_msg("taken: %s", garbled[i]);
    }
}

static void test_endless_head_is_an_error(void **state)
{
    char text[RESPONSE_HEAD_BYTES + 1];
    struct response_head head;

    (void)state;
    memset(text, 'x', sizeof text);
    text[RESPONSE_HEAD_BYTES - 1] = '\0';
    assert_int_equal(parse(text, &head), 0);
    text[RESPONSE_HEAD_BYTES - 1] = 'x';
    text[RESPONSE_HEAD_BYTES] = '\0';
    assert_int_equal(parse(text, &head), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads_of_engines),
        cmocka_unit_test(test_more_is_needed_until_the_empty_line),
        cmocka_unit_test(test_what_is_no_head_is_an_error),
        cmocka_unit_test(test_endless_head_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
