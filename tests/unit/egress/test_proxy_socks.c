#include "environments/egress/proxy_socks.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define BYTES(TEXT) TEXT, sizeof TEXT - 1

static void test_who_need_not_log_in_is_greeted(void **state)
{
    (void)state;
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x05\x01\x00")), 3);
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x05\x02\x02\x00rest")), 4);
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x05\x02\x02")), 0);
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x05")), 0);
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x05\x01\x02")), -1);
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x05\x00")), -1);
    assert_int_equal(proxy_socks_parse_greeting(BYTES("\x04\x01\x00")), -1);
}

static void test_each_form_of_address_is_read(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *host;
    } cases[] = {
        {BYTES("\x05\x01\x00\x01\x0a\x00\x00\x05\x00\x50"), "10.0.0.5"},
        {BYTES("\x05\x01\x00\x03\x09"
               "a.Example\x00\x50"),
         "a.example"},
        {BYTES("\x05\x01\x00\x03\x08"
               "10.0.0.5\x00\x50"),
         "10.0.0.5"},
        {BYTES("\x05\x01\x00\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x50"),
         "2001:db8::1"},
        {BYTES("\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x00\x00\x05\x00\x50"), "10.0.0.5"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        enum proxy_socks_reply reply;
        struct destination destination;

        for (size_t length = 0; length < cases[i].length; length++)
            assert_int_equal(
                proxy_socks_parse_request(cases[i].bytes, length, &destination, &reply), 0);
        assert_int_equal(
            proxy_socks_parse_request(cases[i].bytes, cases[i].length, &destination, &reply),
            cases[i].length);
        assert_int_equal(reply, PROXY_SOCKS_DONE);
        assert_string_equal(destination.host, cases[i].host);
        assert_int_equal(destination.port, 80);
    }
}

static void test_what_is_not_served_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        enum proxy_socks_reply reply;
    } cases[] = {
        {BYTES("\x05\x02\x00\x01\x0a\x00\x00\x05\x00\x50"), PROXY_SOCKS_NO_COMMAND},
        {BYTES("\x05\x01\x00\x02\x0a\x00\x00\x05\x00\x50"), PROXY_SOCKS_NO_ADDRESS},
        {BYTES("\x05\x01\x00\x01\x0a\x00\x00\x05\x00\x00"), PROXY_SOCKS_NO_ADDRESS},
        {BYTES("\x05\x01\x00\x03\x00\x00\x50"), PROXY_SOCKS_NO_ADDRESS},
        {BYTES("\x05\x01\x00\x03\x03"
               "a b\x00\x50"),
         PROXY_SOCKS_NO_ADDRESS},
        {BYTES("\x04\x01\x00\x01\x0a\x00\x00\x05\x00\x50"), PROXY_SOCKS_FAILED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        enum proxy_socks_reply reply;
        struct destination destination;

        assert_int_equal(
            proxy_socks_parse_request(cases[i].bytes, cases[i].length, &destination, &reply), -1);
        assert_int_equal(reply, cases[i].reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_need_not_log_in_is_greeted),
        cmocka_unit_test(test_each_form_of_address_is_read),
        cmocka_unit_test(test_what_is_not_served_is_refused_with_its_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
