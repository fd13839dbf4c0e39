#include "environments/packages/package_installer.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/packages/package_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *line;
    const char *step;
} lines[] = {
    {"Collecting numpy>=1.26 (from -r requirements.txt (line 1))", "finding numpy>=1.26"},
    {"  Downloading numpy-2.0-py3-none-any.whl (18.0 MB)",
     "downloading numpy-2.0-py3-none-any.whl"},
    {"  Building wheel for slow (pyproject.toml): started", "building slow"},
    {"Installing collected packages: numpy, pandas", "installing numpy, pandas"},
    {"Looking in links: wheels", NULL},
    {"", NULL},
};

static void test_what_pip_says_is_a_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        AUTO_FREE char *step = package_installation_step(lines[i].line);

        if (lines[i].step)
            assert_string_equal(step, lines[i].step);
        else
            assert_null(step);
    }
}

static void test_the_host_of_an_index_without_tls_is_trusted(void **state)
{
    static const struct {
        const char *url;
        const char *host;
    } indexes[] = {
        {"http://10.0.0.1:8080/simple/", "10.0.0.1:8080"},
        {"http://name:secret@mirror/simple", "mirror"},
        {"http://mirror/a@b", "mirror"},
        {"https://mirror/simple", NULL},
        {NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(indexes); i++) {
        AUTO_FREE char *host = package_index_plain_host(indexes[i].url);

        if (indexes[i].host)
            assert_string_equal(host, indexes[i].host);
        else
            assert_null(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_pip_says_is_a_step),
        cmocka_unit_test(test_the_host_of_an_index_without_tls_is_trusted),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
