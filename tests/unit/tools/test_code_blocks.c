#include "server/tools/python/code_blocks.h"

#include "server/tools/code/block_language.h"
#include "server/tools/code/code_cleaning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* The hints on what earlier calls have defined are about code that has run. */
static void test_the_python_of_a_block_is_what_has_run(void **state)
{
    static const struct {
        const char *language;
        bool is_run;
        const char *python;
    } cases[] = {
        {"python", true, "rows = 1"},
        {"python", false, ""},
        {"bash", true, ""},
        {"bash", false, ""},
    };
    const struct code_cleaning ran = {.text = "rows = 1", .length = 8};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct code_block block = {.language = block_language_find(cases[i].language),
                                         .is_run = cases[i].is_run,
                                         .code = "rows = 1"};
        const struct code_cleaning python = code_block_python(&block, &ran);

        assert_string_equal(python.text, cases[i].python);
        assert_int_equal(python.length, strlen(cases[i].python));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_python_of_a_block_is_what_has_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
