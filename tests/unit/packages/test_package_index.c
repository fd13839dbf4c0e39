#include "environments/packages/package_index.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { HOSTS = 4 };

struct index_case {
    const char *text;
    const char *hosts[HOSTS];
};

static void expect_hosts(const struct index_case *expected, bool links_only)
{
    char **hosts = package_index_add_hosts(NULL, expected->text, links_only);
    size_t count = 0;

    for (; hosts && hosts[count]; count++)
        if (!expected->hosts[count] || strcmp(hosts[count], expected->hosts[count]) != 0)
            fail_msg("%s: %s", expected->text, hosts[count]);
    if (expected->hosts[count])
        fail_msg("%s: not %s", expected->text, expected->hosts[count]);
    memory_free_strings(hosts);
}

static void test_settings_name_the_hosts_of_their_urls(void **state)
{
    static const struct index_case cases[] = {
        {"PIP_INDEX_URL=https://Mirror.example/simple", {"mirror.example:443"}},
        {"http://me:secret@mirror.example:8080/simple/", {"mirror.example:8080"}},
        {"http://a.example http://b.example,https://c.example",
         {"a.example:80", "b.example:80", "c.example:443"}},
        {"UV_INDEX=mirror=http://[::1]:8080/simple http://[::1]/", {"[::1]:8080", "[::1]:80"}},
        {"[[index]]\nurl = \"https://a.example\"\ndefault = true\n", {"a.example:443"}},
        {"[global]\nextra_index_url =\n    https://a.example/\n    https://b.example/\n",
         {"a.example:443", "b.example:443"}},
        {"git+https://a.example/x@main", {"a.example:443"}},
        {"[global]\nproxy = http://proxy.example:3128\nindex_url = https://a.example\n",
         {"a.example:443"}},
        {"https-proxy = \"http://proxy.example:3128\"", {NULL}},
        {"find-links = https://proxy.example/links", {"proxy.example:443"}},
        {"file:///srv/wheels ftp://a.example ://b.example", {NULL}},
        {"https://", {NULL}},
        {"https://user@", {NULL}},
        {"https://127.1/", {NULL}},
        {"", {NULL}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_hosts(&cases[i], false);
}

static void test_links_are_told_from_indexes(void **state)
{
    static const struct index_case cases[] = {
        {"PIP_INDEX_URL=https://a.example/simple", {NULL}},
        {"PIP_FIND_LINKS=https://a.example/ https://b.example/",
         {"a.example:443", "b.example:443"}},
        {"UV_FIND_LINKS=https://a.example/", {"a.example:443"}},
        {"[global]\nfind-links = https://a.example/\nindex_url = https://b.example/\n",
         {"a.example:443"}},
        {"find_links:\n    https://a.example/\n\thttps://b.example/\nextra_index_url =\n"
         "    https://c.example/\n",
         {"a.example:443", "b.example:443"}},
        {"find-links = [\n  \"https://a.example/\",\n]\n[[index]]\nurl = \"https://b.example\"\n",
         {"a.example:443"}},
        {"UV_INDEX=find-links=https://a.example/", {NULL}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_hosts(&cases[i], true);
}

static void test_yes_is_what_installers_take_for_it(void **state)
{
    (void)state;
    assert_true(package_index_is_yes("1"));
    assert_true(package_index_is_yes("True"));
    assert_true(package_index_is_yes("on"));
    assert_false(package_index_is_yes("0"));
    assert_false(package_index_is_yes(""));
    assert_false(package_index_is_yes(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_name_the_hosts_of_their_urls),
        cmocka_unit_test(test_links_are_told_from_indexes),
        cmocka_unit_test(test_yes_is_what_installers_take_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
