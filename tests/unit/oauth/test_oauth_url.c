#include "server/transport/oauth/oauth_url.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_what_is_fetched_is_encrypted_or_local(void **state)
{
    static const char *const good[] = {
        "https://login.example.org", "https://login.example.org:8443/realms/a?b=c",
        "http://127.0.0.1:9/keys",   "http://[::1]/keys",
        "http://localhost",
    };
    static const char *const bad[] = {
        "",
        "login.example.org",
        "http://login.example.org/",
        "http://127.0.0.1.example.org/",
        "http://localhost.example.org/",
        "http://localhost@example.org/",
        "https://",
        "https:///path",
        "https://name:secret@login.example.org/",
        "https://login.example.org/a b",
        "https://login.example.org/\"x",
        "ftp://login.example.org/",
        "file:///etc/passwd",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        print_message("%s\n", good[i]);
        assert_true(oauth_url_is_safe(good[i]));
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        print_message("%s\n", bad[i]);
        assert_false(oauth_url_is_safe(bad[i]));
    }
}

static void test_a_resource_has_one_form(void **state)
{
    static const char *const good[] = {"https://host/mcp", "https://host:8443", "http://host/Mcp"};
    static const struct {
        const char *url;
        const char *words;
    } bad[] = {
        {"host/mcp", "must be the URL"},
        {"https://host/mcp/", "must not end in a slash"},
        {"https://host/", "must not end in a slash"},
        {"https://Host/mcp", "host in lower case"},
        {"https://host/mcp?a", "no query"},
        {"https://host/mcp#a", "no query"},
        {"HTTPS://host/mcp", "must be the URL"},
    };
    struct error none = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_int_equal(oauth_url_check_resource(good[i], &none), 0);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = ERROR_INIT;

        print_message("%s\n", bad[i].url);
        assert_int_equal(oauth_url_check_resource(bad[i].url, &err), -1);
        assert_non_null(strstr(err.message, bad[i].words));
    }
}

static void test_what_is_known_stands_before_the_path(void **state)
{
    static const struct {
        const char *url;
        const char *place;
    } cases[] = {
        {"https://host", "https://host/.well-known/x"},
        {"https://host/", "https://host/.well-known/x"},
        {"https://host/mcp", "https://host/.well-known/x/mcp"},
        {"http://localhost:1/a/b", "http://localhost:1/.well-known/x/a/b"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *place = oauth_url_well_known(cases[i].url, "x");

        assert_string_equal(place, cases[i].place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_fetched_is_encrypted_or_local),
        cmocka_unit_test(test_a_resource_has_one_form),
        cmocka_unit_test(test_what_is_known_stands_before_the_path),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
