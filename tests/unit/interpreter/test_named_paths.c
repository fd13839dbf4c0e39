/* The paths in a text of somebody else. */
#include "environments/interpreter/named_paths.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *text;
    const char *paths; /* separated by spaces */
} named[] = {
    {"", ""},
    {"#!/bin/sh\nexec \"/opt/py/bin/python3\" \"$@\"\n", "/opt/py/bin/python3"},
    {"[global]\nfind-links = /srv/wheels\n  file:///mnt/more\ncert=/etc/ca.pem\n",
     "/srv/wheels /mnt/more /etc/ca.pem"},
    {"find-links = [\"/a\", '/b']", "/a /b"},
    {"gadget @ file:///srv/gadget.whl#sha256=ab", "/srv/gadget.whl"},
    {"page = https://mirror/page", ""},
    {"extra = //mirror/simple file://host/simple / relative/path", ""},
};

static void test_paths_are_found_in_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
        char **paths = named_paths_find(named[i].text);
        char *found = memory_copy_string("");

        for (size_t j = 0; paths[j]; j++) {
            char *before = found;

            found = memory_format("%s%s%s", before, j ? " " : "", paths[j]);
            free(before);
        }
        assert_string_equal(found, named[i].paths);
        free(found);
        memory_free_strings(paths);
    }
}

static void test_there_is_a_most_of_them(void **state)
{
    char text[3 * 2 * NAMED_PATHS_MOST + 1] = "";
    char **paths;
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < 2 * (size_t)NAMED_PATHS_MOST; i++)
        memcpy(text + 3 * i, "/a ", 3);
    paths = named_paths_find(text);
    while (paths[count])
        count++;
    assert_int_equal(count, NAMED_PATHS_MOST);
    memory_free_strings(paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_are_found_in_texts),
        cmocka_unit_test(test_there_is_a_most_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
