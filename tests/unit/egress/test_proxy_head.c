#include "environments/egress/proxy_head.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void test_a_head_says_where_it_wants_to_go(void **state)
{
    static const struct {
        const char *text;
        const char *host; /* NULL: nowhere */
        unsigned port;
    } cases[] = {
        {"CONNECT packages.example.net:443 HTTP/1.1\r\n\r\n", "packages.example.net", 443},
        {"CONNECT packages.example.net:443 HTTP/1.0\r\nProxy-X: y\r\n\r\n", "packages.example.net",
         443},
        {"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: other\r\n\r\n", "2001:db8::1", 443},
        {"GET http://a.example/x HTTP/1.1\r\n\r\n", "a.example", 80},
        {"GET HTTP://a.example:8080 HTTP/1.1\r\n\r\n", "a.example", 8080},
        {"GET http://10.0.0.1?q HTTP/1.1\r\n\r\n", "10.0.0.1", 80},
        {"GET http://[::1]/ HTTP/1.1\r\n\r\n", "::1", 80},
        {"CONNECT packages.example.net HTTP/1.1\r\n\r\n", NULL, 0},
        {"CONNECT packages.example.net:443\r\n\r\n", NULL, 0},
        {"CONNECT  packages.example.net:443 HTTP/1.1\r\n\r\n", NULL, 0},
        {"CONNECT packages.example.net:443 HTTP/2.0\r\n\r\n", NULL, 0},
        {"CONNECT http://packages.example.net:443 HTTP/1.1\r\n\r\n", NULL, 0},
        {"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", NULL, 0},
        {"GET https://a.example/ HTTP/1.1\r\n\r\n", NULL, 0},
        {"GET http:///x HTTP/1.1\r\n\r\n", NULL, 0},
        {"GET http://user@a.example/x HTTP/1.1\r\n\r\n", NULL, 0},
        {"GET http://a.example/#x HTTP/1.1\r\n\r\n", NULL, 0},
        {"GET http://[a.example]/ HTTP/1.1\r\n\r\n", NULL, 0},
        {"GET http://a.example/ HTTP/1.1\r\n folded: x\r\n\r\n", NULL, 0},
        {"GET http://a.example/ HTTP/1.1\r\nno colon\r\n\r\n", NULL, 0},
        {"GET http://a.example/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n", NULL, 0},
        {"G(T http://a.example/ HTTP/1.1\r\n\r\n", NULL, 0},
        {" GET http://a.example/ HTTP/1.1\r\n\r\n", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct proxy_head head;
        ssize_t length = proxy_head_parse(cases[i].text, strlen(cases[i].text), &head);

        if (length != (cases[i].host ? (ssize_t)strlen(cases[i].text) : -1))
            fail_msg("%s", cases[i].text);
        if (length < 0)
            continue;
        assert_string_equal(head.destination.host, cases[i].host);
        assert_int_equal(head.destination.port, cases[i].port);
        assert_int_equal(head.is_tunnel, cases[i].text[0] == 'C');
    }
}

static void test_more_is_waited_for_up_to_a_bound(void **state)
{
    static const char text[] = "CONNECT packages.example.net:443 HTTP/1.1\r\nA: b\r\n\r\nrest";
    char *many = memory_new(1, PROXY_HEAD_BYTES);
    struct proxy_head head;

    (void)state;
    for (size_t i = 0; i < strlen(text) - strlen("rest"); i++)
        assert_int_equal(proxy_head_parse(text, i, &head), 0);
    assert_int_equal(proxy_head_parse(text, strlen(text), &head), strlen(text) - strlen("rest"));
    memset(many, 'A', PROXY_HEAD_BYTES);
    assert_int_equal(proxy_head_parse("\x16", 1, &head), -1); /* TLS */
    assert_int_equal(proxy_head_parse(many, PROXY_HEAD_BYTES - 1, &head), 0);
    assert_int_equal(proxy_head_parse(many, PROXY_HEAD_BYTES, &head), -1);
    free(many);
}

/* Fails unless the head of TEXT is passed on to UPSTREAM (NULL: to its destination) as EXPECTED. */
static void check_passed_on(const char *text, const struct upstream *upstream, const char *expected)
{
    struct error err = ERROR_INIT;
    struct proxy_head head;
    struct buffer buffer;

    buffer_init(&buffer, PROXY_HEAD_BYTES);
    assert_true(proxy_head_parse(text, strlen(text), &head) > 0);
    assert_int_equal(proxy_head_pass_on(&head, upstream, &buffer, &err), 0);
    assert_int_equal(buffer_append(&buffer, "", 1, &err), 0);
    assert_string_equal(buffer_bytes(&buffer), expected);
    buffer_deinit(&buffer);
}

static void test_a_request_is_passed_on_for_its_destination_alone(void **state)
{
    static const char text[] = "POST http://a.example:81/x?y HTTP/1.1\r\nHost: b.example\r\n"
                               "proxy-authorization: Basic eA==\r\nConnection: keep-alive\r\n"
                               "Content-Length: 2\r\n\r\nhi";

    (void)state;
    check_passed_on(text, NULL,
                    "POST /x?y HTTP/1.1\r\nHost: a.example:81\r\nConnection: close\r\n"
                    "Content-Length: 2\r\n\r\n");
}

static void test_a_further_proxy_sees_where_it_goes_and_who_asks(void **state)
{
    static const char text[] = "GET http://a.example:81?y HTTP/1.1\r\n"
                               "proxy-authorization: Basic eA==\r\nAccept: b\r\n\r\n";
    const struct upstream upstream = {.login = "bWU6c2VjcmV0"};
    struct proxy_head head;

    (void)state;
    assert_true(proxy_head_parse(text, strlen(text), &head) > 0);
    assert_true(proxy_head_has_no_body(&head));
    check_passed_on(text, &upstream,
                    "GET http://a.example:81/?y HTTP/1.1\r\nHost: a.example:81\r\n"
                    "Connection: close\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"
                    "Accept: b\r\n\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_head_says_where_it_wants_to_go),
        cmocka_unit_test(test_more_is_waited_for_up_to_a_bound),
        cmocka_unit_test(test_a_request_is_passed_on_for_its_destination_alone),
        cmocka_unit_test(test_a_further_proxy_sees_where_it_goes_and_who_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
