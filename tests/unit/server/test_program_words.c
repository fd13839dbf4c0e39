#include "server/program_words.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* The last of WORDS names code at WANTED, or none: NULL. */
static void assert_code(const char *const *words, const char *wanted)
{
    size_t last = 0;
    AUTO_FREE char *code = NULL;

    while (words[last + 1])
        last++;
    code = program_words_find_code(words, last, "/srv/a");
    if (wanted)
        assert_string_equal(code, wanted);
    else
        assert_null(code);
}

static void test_scripts_and_programs_are_code(void **state)
{
    (void)state;
    assert_code((const char *[]){"python3", "server.py", NULL}, "/srv/a/server.py");
    assert_code((const char *[]){"node", "/srv/b/x.mjs", NULL}, "/srv/b/x.mjs");
    assert_code((const char *[]){"env", "/bin/sh", NULL}, "/bin/sh");
}

static void test_folders_of_packages_are_code_where_an_option_names_them(void **state)
{
    (void)state;
    assert_code((const char *[]){"/usr/bin/uv", "--directory", "/srv/b", NULL}, "/srv/b");
    assert_code((const char *[]){"uvx", "--from=/srv/b", NULL}, "/srv/b");
    assert_code((const char *[]){"uvx", "--project", "/srv/b", NULL}, NULL);
}

static void test_data_is_no_code(void **state)
{
    (void)state;
    assert_code((const char *[]){"npx", "-y", "@a/server", NULL}, NULL);
    assert_code((const char *[]){"npx", "server", "/srv", NULL}, NULL);
    assert_code((const char *[]){"server", "--db=/srv/b/data.db", NULL}, NULL);
    assert_code((const char *[]){"server", "--db=", NULL}, NULL);
    assert_true(program_words_is_code_variable("PYTHONPATH"));
    assert_false(program_words_is_code_variable("DATA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts_and_programs_are_code),
        cmocka_unit_test(test_folders_of_packages_are_code_where_an_option_names_them),
        cmocka_unit_test(test_data_is_no_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
