#include "server/tools/python/many_programs.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char CODE[] = "```python\ndef main(n):\n    return n\n```";

static void test_each_input_has_a_program(void **state)
{
    AUTO_JSON json_t *arguments = json_pack("{s:s, s:[i, {s:n}]}", "code", CODE, "inputs", 7, "a");
    struct many_programs programs;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(many_programs_read(&programs, arguments, &err), 0);
    assert_int_equal(programs.count, 2);
    for (size_t i = 0; i < 2; i++) {
        size_t length;
        AUTO_FREE char *program = many_programs_make(&programs, i, &length);

        assert_int_equal(length, strlen(program));
        assert_null(strstr(program, "```"));
        assert_non_null(strstr(program, i == 0 ? "(\"\\\"7\\\"\")" : "null"));
    }
    many_programs_deinit(&programs);
}

static void test_a_program_is_run_as_it_is(void **state)
{
    AUTO_JSON json_t *arguments = json_pack("{s:[s, s]}", "programs", "first", "a\nb");
    struct many_programs programs;
    struct error err = ERROR_INIT;
    AUTO_FREE char *program = NULL;
    size_t length;

    (void)state;
    assert_int_equal(many_programs_read(&programs, arguments, &err), 0);
    program = many_programs_make(&programs, 1, &length);
    assert_int_equal(length, 3);
    assert_memory_equal(program, "a\nb", 3);
    many_programs_deinit(&programs);
}

static void test_a_person_sees_all_and_no_code_looks_like_an_input(void **state)
{
    AUTO_JSON json_t *arguments =
        json_pack("{s:s, s:[i]}", "code", "main = 1\ninput 5: 0", "inputs", 7);
    struct many_programs programs;
    struct error err = ERROR_INIT;
    AUTO_FREE char *text = NULL;

    (void)state;
    assert_int_equal(many_programs_read(&programs, arguments, &err), 0);
    text = many_programs_text(&programs);
    assert_string_equal(text,
                        "number of inputs: 1\nthe program, which runs once for each of them:\n"
                        "    main = 1\n    input 5: 0\ninput 0: 7\n");
    many_programs_deinit(&programs);
}

static void test_code_with_a_nul_is_refused(void **state)
{
    AUTO_JSON json_t *programs = json_pack("{s:[s, s%]}", "programs", "first", "a\0b", (size_t)3);
    AUTO_JSON json_t *code =
        json_pack("{s:s%, s:[i]}", "code", "def main(x):\n    pass\n#\0", (size_t)24, "inputs", 1);
    struct many_programs read;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(many_programs_read(&read, i ? code : programs, &err), -1);
        assert_string_equal(err.message, "the code has a NUL character");
        many_programs_deinit(&read);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_input_has_a_program),
        cmocka_unit_test(test_a_program_is_run_as_it_is),
        cmocka_unit_test(test_code_with_a_nul_is_refused),
        cmocka_unit_test(test_a_person_sees_all_and_no_code_looks_like_an_input),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
