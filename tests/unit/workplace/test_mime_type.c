#include "environments/workplace/mime_type.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static const struct {
    const char *path;
    const char *expected;
} cases[] = {
    {"a.csv", "text/csv"},
    {"deep/down/plot.PNG", "image/png"},
    {"archive.tar.gz", "application/gzip"},
    {"book.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"page.html", "text/html"},
    {"page.htm", "text/html"},
    {"x.h5", "application/x-hdf5"},
    {"noextension", "application/octet-stream"},
    {"csv", "application/octet-stream"},
    {".csv", "application/octet-stream"}, /* a hidden file, not an extension */
    {"a.csv/b", "application/octet-stream"},
    {"a/.csv", "application/octet-stream"},
    {"a.csv~", "application/octet-stream"},
    {"", "application/octet-stream"},
};

static void test_the_type_is_told_by_the_end_of_the_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_string_equal(mime_type_of_path(cases[i].path), cases[i].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_type_is_told_by_the_end_of_the_name),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
