#include "environments/interpreter/python_version.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static const struct {
    const char *wanted;
    const char *actual;
    bool fits;
} versions[] = {
    {"3", "3.11.2", true},
    {"3.11", "3.11.2", true},
    {"3.11.2", "3.11.2", true},
    {"3.1", "3.11.2", false},
    {"3.11", "3.1.2", false},
    {"3.11.2", "3.11.20", false},
    {"3.11.20", "3.11.2", false},
    {"3.12", "3.11.2", false},
    {"3.15", "3.15.0a1", true},

    {">=3.9", "3.11.2", true},
    {">=3.11.2", "3.11.2", true},
    {">=3.11.3", "3.11.2", false},
    {"> 3.11", "3.11.2", true},
    {">3.11.2", "3.11.2", false},
    {"<4", "3.11.2", true},
    {"<3.11", "3.11.0", false},
    {"<=3.11", "3.11.0", true},
    {"<=3.11", "3.11.2", false},
    {"==3.11.*", "3.11.2", true},
    {"==3.1.*", "3.11.2", false},
    {"==3.11", "3.11.2", false},
    {"===3.11.2", "3.11.2", true},
    {"!=3.11.*", "3.11.2", false},
    {"!=3.11.0", "3.11.2", true},
    {"~=3.9", "3.11.2", true},
    {"~=3.9", "4.0.0", false},
    {"~=3.11.1", "3.11.2", true},
    {"~=3.10.1", "3.11.2", false},
    {"~=3", "3.11.2", false},
    {">=3.9, <3.13, !=3.10.*", "3.11.2", true},
    {">=3.9,<3.11", "3.11.2", false},
    {">=3.15", "3.15.0a1", true},

    {">=3.9,", "3.11.2", false},
    {">=3.9 <4", "3.11.2", false},
    {">=3.*", "3.11.2", false},
    {">=3.9.1.2", "3.11.2", false},
    {">=99999999999999999999", "3.11.2", false},
    {"^3.9", "3.11.2", false},
    {"", "3.11.2", false},
};

static void test_versions_fit_by_their_parts_and_clauses(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
        if (python_version_fits(versions[i].wanted, versions[i].actual) != versions[i].fits)
            fail_msg("%s, %s", versions[i].wanted, versions[i].actual);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_fit_by_their_parts_and_clauses),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
