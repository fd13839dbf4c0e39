#include "server/runc.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define OF_2019   "CVE-2019-5736 (fixed in 1.0-rc7)"
#define OF_2024   "CVE-2024-21626 (fixed in 1.1.12)"
#define OF_2025   "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881 (fixed in 1.2.8)"
#define OF_2025_3 "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881 (fixed in 1.3.3)"
#define OF_2025_4 "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881 (fixed in 1.4.0-rc.3)"

static void test_each_release_has_what_was_fixed_after_it(void **state)
{
    static const struct {
        const char *version;
        const char *weaknesses;
    } cases[] = {
        {"1.0-rc6", OF_2019 ", " OF_2025},
        {"1.0.0-rc6", OF_2019 ", " OF_2025},
        {"1.0.0-rc7", OF_2025},
        {"1.0.0~rc92+dfsg1", OF_2025},
        {"1.0.0~rc93+ds1", OF_2024 ", " OF_2025},
        {"1.0.0", OF_2024 ", " OF_2025},
        {"1.1.5+ds1", OF_2024 ", " OF_2025},
        {"1.1.11", OF_2024 ", " OF_2025},
        {"1.1.12", OF_2025},
        {"1.2.0-rc.1", OF_2025},
        {"1.2.7", OF_2025},
        {"1.2.8", NULL},
        {"1.2.9-0ubuntu1", NULL},
        {"1.3.0-rc.1", OF_2025_3},
        {"1.3.2", OF_2025_3},
        {"1.3.3", NULL},
        {"1.4.0-rc.2", OF_2025_4},
        {"1.4.0-rc.3", NULL},
        {"1.4.0", NULL},
        {"2.0", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_FREE char *text = runc_weaknesses(cases[i].version);

        if (cases[i].weaknesses) {
            assert_non_null(text);
            assert_string_equal(text, cases[i].weaknesses);
        } else {
            assert_null(text);
        }
    }
}

static void test_what_is_no_version_says_nothing(void **state)
{
    static const char *const texts[] = {"", "unknown", "v1.1.5", "1.", "1.-1", "1.0.0-rc"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(runc_weaknesses(texts[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_release_has_what_was_fixed_after_it),
        cmocka_unit_test(test_what_is_no_version_says_nothing),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
