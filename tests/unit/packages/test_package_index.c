#include "environments/packages/package_index.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { HOSTS = 4 };

static void test_settings_name_the_hosts_of_their_urls(void **state)
{
    static const struct {
        const char *text;
        const char *hosts[HOSTS];
    } cases[] = {
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
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char **hosts = package_index_add_hosts(NULL, cases[i].text);
        size_t count = 0;

        for (; hosts && hosts[count]; count++)
            if (!cases[i].hosts[count] || strcmp(hosts[count], cases[i].hosts[count]) != 0)
                fail_msg("%s: %s", cases[i].text, hosts[count]);
        if (cases[i].hosts[count])
            fail_msg("%s: not %s", cases[i].text, cases[i].hosts[count]);
        memory_free_strings(hosts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_name_the_hosts_of_their_urls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
