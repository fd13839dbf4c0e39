#include "server/transport/greeting.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *bytes;
    enum greeting greeting;
    size_t decided_after; /* bytes */
} cases[] = {
    {"GET / HTTP/1.1\r\n", GREETING_HTTP, 5},
    {"POST /x HTTP/1.1\r\n", GREETING_HTTP, 6},
    {"post /x HTTP/1.1\r\n", GREETING_HTTP, 6},
    {"OPTIONS * HTTP/1.1\r\n", GREETING_HTTP, 9},
    {"PRI * HTTP/2.0\r\n", GREETING_HTTP, 5},
    {"GET http://x/ HTTP/1.1\r\n", GREETING_HTTP, 9},
    {"GET HTTPS://x/ HTTP/1.1\r\n", GREETING_HTTP, 10},
    {"CONNECT x:443 HTTP/1.1\r\n", GREETING_HTTP, 8},
    {"GET /\r\n", GREETING_HTTP, 5},
    {"\x16\x03\x01\x02", GREETING_TLS, 1},
    {"{\"jsonrpc\":\"2.0\"}", GREETING_LINE, 1},
    {"[]", GREETING_LINE, 1},
    {" {}", GREETING_LINE, 1},
    {"\n", GREETING_LINE, 1},
    {"\r\n{}", GREETING_LINE, 1},
    {"\xef\xbb\xbf{}", GREETING_LINE, 1},
    {"null\n", GREETING_LINE, 5},
    {"true \n", GREETING_LINE, 6},
    {"this is no JSON\n", GREETING_LINE, 6},
    {"hello http\n", GREETING_LINE, 11},
    {"Authorization: Bearer x\n", GREETING_LINE, 14},
    {"Content-Length: 10\r\n", GREETING_LINE, 8},
    {"abcdefghijklmnopqrstuvwxyz / HTTP/1.1", GREETING_LINE, 21},
};

static void test_decides_with_the_first_bytes_that_tell(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length = strlen(cases[i].bytes);

        print_message("%s\n", cases[i].bytes);
        assert_true(cases[i].decided_after <= GREETING_BYTES);
        for (size_t seen = 0; seen < cases[i].decided_after; seen++)
            assert_int_equal(greeting_classify(cases[i].bytes, seen), GREETING_UNDECIDED);
        for (size_t seen = cases[i].decided_after; seen <= length; seen++)
            assert_int_equal(greeting_classify(cases[i].bytes, seen), cases[i].greeting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decides_with_the_first_bytes_that_tell),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
