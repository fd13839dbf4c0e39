#include "server/transport/http/http_origin.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char *const hosts[] = {"example.com", "proxy.example:8443", "[2001:db8::1]", NULL};
static const char *const origins[] = {"https://app.example", "http://localhost:3000", NULL};
static const struct http_names names = {hosts, origins};

static const struct {
    const char *host;
    enum http_host expected;
} host_cases[] = {
    {"localhost:7000", HTTP_HOST_OURS},
    {"LOCALHOST:7000", HTTP_HOST_OURS},
    {"127.0.0.1:7000", HTTP_HOST_OURS},
    {"[::1]:7000", HTTP_HOST_OURS},
    {"example.com", HTTP_HOST_OURS},
    {"Example.Com:7000", HTTP_HOST_OURS},
    {"proxy.example:8443", HTTP_HOST_OURS},
    {"[2001:DB8::1]", HTTP_HOST_OURS},

    {"localhost", HTTP_HOST_OTHER},
    {"localhost:70000", HTTP_HOST_MALFORMED},
    {"localhost:700", HTTP_HOST_OTHER},
    {"localhost.:7000", HTTP_HOST_OTHER},
    {"localhost.example:7000", HTTP_HOST_OTHER},
    {"xlocalhost:7000", HTTP_HOST_OTHER},
    {"127.0.0.1.nip.example:7000", HTTP_HOST_OTHER},
    {"127.0.0.2:7000", HTTP_HOST_OTHER},
    {"127.1:7000", HTTP_HOST_OTHER},
    {"2130706433:7000", HTTP_HOST_OTHER},
    {"0.0.0.0:7000", HTTP_HOST_OTHER},
    {"[::]:7000", HTTP_HOST_OTHER},
    {"[::ffff:127.0.0.1]:7000", HTTP_HOST_OTHER},
    {"evil.example.com", HTTP_HOST_OTHER},
    {"example.com.", HTTP_HOST_OTHER},
    {"example.com:80", HTTP_HOST_OTHER},
    {"proxy.example", HTTP_HOST_OTHER},
    {"proxy.example:7000", HTTP_HOST_OTHER},

    {"", HTTP_HOST_MALFORMED},
    {":7000", HTTP_HOST_MALFORMED},
    {"localhost:", HTTP_HOST_MALFORMED},
    {"localhost:0", HTTP_HOST_MALFORMED},
    {"localhost:07000", HTTP_HOST_MALFORMED},
    {"localhost:+7000", HTTP_HOST_MALFORMED},
    {"localhost:7000 ", HTTP_HOST_MALFORMED},
    {"localhost:7000/", HTTP_HOST_MALFORMED},
    {"localhost:7000@evil.example", HTTP_HOST_MALFORMED},
    {"user@localhost:7000", HTTP_HOST_MALFORMED},
    {"user:7000@localhost:7000", HTTP_HOST_MALFORMED},
    {"localhost:7000,evil.example", HTTP_HOST_MALFORMED},
    {"http://localhost:7000", HTTP_HOST_MALFORMED},
    {"local host:7000", HTTP_HOST_MALFORMED},
    {"local%68ost:7000", HTTP_HOST_MALFORMED},
    {"::1", HTTP_HOST_MALFORMED},
    {"[::1", HTTP_HOST_MALFORMED},
    {"[::1]7000", HTTP_HOST_MALFORMED},
    {"[localhost]:7000", HTTP_HOST_MALFORMED},
    {"[::1%25lo]:7000", HTTP_HOST_MALFORMED},
    {"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:7000", HTTP_HOST_MALFORMED},
};

static void test_hosts_are_compared_as_a_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(host_cases); i++) {
        print_message("%s\n", host_cases[i].host);
        assert_int_equal(http_names_find_host(&names, host_cases[i].host, 7000),
                         host_cases[i].expected);
    }
}

static void test_a_host_name_of_any_length_is_only_a_name(void **state)
{
    char name[4096];

    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(http_names_find_host(&names, name, 7000), HTTP_HOST_MALFORMED);
}

static void test_the_usual_ports_may_be_left_out(void **state)
{
    (void)state;
    assert_int_equal(http_names_find_host(&names, "localhost", 80), HTTP_HOST_OURS);
    assert_int_equal(http_names_find_host(&names, "localhost", 443), HTTP_HOST_OURS);
    assert_int_equal(http_names_find_host(&names, "localhost", 0), HTTP_HOST_OURS);
    assert_int_equal(http_names_find_host(&names, "localhost:80", 0), HTTP_HOST_OTHER);
}

static const struct {
    const char *origin;
    bool admitted;
    bool listed;
} origin_cases[] = {
    {"https://app.example", true, true},
    {"HTTPS://APP.example", true, true},
    {"http://localhost:3000", true, true},
    {"http://localhost:7000", true, false},
    {"https://127.0.0.1:7000", true, false},
    {"http://[::1]:7000", true, false},

    {"null", false, false},
    {"", false, false},
    {"http://localhost", false, false},
    {"http://localhost:3001", false, false},
    {"http://app.example", false, false},
    {"https://app.example:8443", false, false},
    {"https://app.example.evil.example", false, false},
    {"https://evil.example/https://app.example", false, false},
    {"https://app.example/", false, false},
    {"https://app.example ", false, false},
    {"http://localhost:7000@evil.example", false, false},
    {"http://evil@localhost:7000", false, false},
    {"http://localhost.evil.example:7000", false, false},
    {"http://localhost.:7000", false, false},
    {"ftp://localhost:7000", false, false},
    {"localhost:7000", false, false},
    {"http://example.com", false, false},
};

static void test_origins_are_compared_as_a_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(origin_cases); i++) {
        print_message("%s\n", origin_cases[i].origin);
        assert_int_equal(http_names_admit_origin(&names, origin_cases[i].origin, 7000),
                         origin_cases[i].admitted);
        assert_int_equal(http_names_list_origin(&names, origin_cases[i].origin),
                         origin_cases[i].listed);
    }
}

static void test_entries_that_never_match_are_none(void **state)
{
    (void)state;
    for (const char *const *host = hosts; *host; host++)
        assert_true(http_name_is_host(*host));
    for (const char *const *origin = origins; *origin; origin++)
        assert_true(http_name_is_origin(*origin));
    assert_false(http_name_is_host("https://example.com"));
    assert_false(http_name_is_host("*.example.com"));
    assert_false(http_name_is_host("example.com/"));
    assert_false(http_name_is_origin("*"));
    assert_false(http_name_is_origin("example.com"));
    assert_false(http_name_is_origin("https://app.example/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_are_compared_as_a_whole),
        cmocka_unit_test(test_a_host_name_of_any_length_is_only_a_name),
        cmocka_unit_test(test_the_usual_ports_may_be_left_out),
        cmocka_unit_test(test_origins_are_compared_as_a_whole),
        cmocka_unit_test(test_entries_that_never_match_are_none),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
