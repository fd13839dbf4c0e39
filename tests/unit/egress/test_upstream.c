#include "environments/egress/upstream.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void test_a_url_names_the_proxy_and_its_login(void **state)
{
    static const struct {
        const char *url;
        const char *host; /* NULL: none that can be gone through */
        unsigned port;
        const char *login;
    } cases[] = {
        {"http://proxy.example:3128", "proxy.example", 3128, ""},
        {"HTTP://proxy.example/", "proxy.example", 80, ""},
        {"proxy.example:3128", "proxy.example", 3128, ""},
        {"http://me:secret@proxy:8080/", "proxy", 8080, "bWU6c2VjcmV0"},
        {"http://me:s%40cret@10.0.0.1:8080", "10.0.0.1", 8080, "bWU6c0BjcmV0"},
        {"http://token@[::1]:8080", "::1", 8080, "dG9rZW46"},
        {"http://[::1]", "::1", 80, ""},
        {"https://proxy.example:3128", NULL, 0, NULL},
        {"socks5://proxy.example:1080", NULL, 0, NULL},
        {"http://", NULL, 0, NULL},
        {"http://proxy:none", NULL, 0, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct upstream upstream;

        if (upstream_parse(cases[i].url, &upstream) != !!cases[i].host)
            fail_msg("%s", cases[i].url);
        if (!cases[i].host)
            continue;
        assert_string_equal(upstream.place.host, cases[i].host);
        assert_int_equal(upstream.place.port, cases[i].port);
        assert_string_equal(upstream.login, cases[i].login);
    }
}

static void test_what_is_spared_is_reached_without_a_proxy(void **state)
{
    static const struct {
        const char *spared;
        const char *wanted;
        bool is_spared;
    } cases[] = {
        {"*", "example.org:443", true},
        {"example.org", "example.org:443", true},
        {"other,.example.org", "a.example.org:443", true},
        {"example.org, other", "a.example.org:443", true},
        {"example.org:443", "example.org:443", true},
        {"10.0.0.5", "10.0.0.5:80", true},
        {"10.0.0.0/8", "10.1.2.3:80", true},
        {"2001:db8::/32", "[2001:db8::5]:443", true},
        {"example.org:80", "example.org:443", false},
        {"example.org", "anexample.org:443", false},
        {"a.example.org", "example.org:443", false},
        {"10.0.0.0/16", "10.1.2.3:80", false},
        {"10.0.0.0/99", "10.0.0.1:80", false},
        {"0.0.5", "10.0.0.5:80", false},
        {"", "example.org:443", false},
        {", ,", "example.org:443", false},
    };
    const struct upstream upstream = {.login = ""};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct upstreams upstreams = {.tunnels = &upstream, .spared = cases[i].spared};
        struct destination wanted;

        assert_true(destination_parse(cases[i].wanted, strlen(cases[i].wanted), &wanted));
        if (!upstreams_find(&upstreams, &wanted, true) != cases[i].is_spared)
            fail_msg("%s, %s", cases[i].spared, cases[i].wanted);
        assert_null(upstreams_find(&upstreams, &wanted, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_url_names_the_proxy_and_its_login),
        cmocka_unit_test(test_what_is_spared_is_reached_without_a_proxy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
