/* What scripts have imported lately. */
#include "environments/packages/import_record.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/process/preloads.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct learning {
    char *scratch;
    char *python; /* owned; a file in scratch */
    struct import_record *record;
};

static int setup(void **state)
{
    struct learning *learning = NEW(struct learning);

    learning->scratch = scratch_new();
    learning->python = memory_format("%s/python", learning->scratch);
    write_text(learning->python, "one");
    learning->record = import_record_new(learning->scratch, NULL);
    *state = learning;
    return 0;
}

static int teardown(void **state)
{
    struct learning *learning = *state;

    import_record_free(learning->record);
    scratch_free(learning->scratch);
    free(learning->python);
    free(learning);
    return 0;
}

static void start_again(struct learning *learning, const json_t *wish)
{
    import_record_free(learning->record);
    learning->record = import_record_new(learning->scratch, wish);
}

/* A script imports NAME, or nothing: then EXPECTED is imported ahead of the next. */
static void expect_after(struct learning *learning, const char *name, const char *expected)
{
    AUTO_JSON json_t *names = name ? json_pack("[s]", name) : json_array();
    AUTO_FREE char *text =
        json_text(import_record_note(learning->record, learning->python, names)->names);

    assert_string_equal(text, expected);
}

static void test_what_a_script_imports_is_imported_ahead_of_the_next(void **state)
{
    expect_after(*state, NULL, "[]");
    expect_after(*state, "numpy", "[\"numpy\"]");
    expect_after(*state, "json", "[\"numpy\",\"json\"]");
}

static void test_what_no_script_imports_any_more_is_forgotten(void **state)
{
    expect_after(*state, "numpy", "[\"numpy\"]");
    for (int i = 0; i < 11; i++)
        expect_after(*state, NULL, "[\"numpy\"]");
    expect_after(*state, NULL, "[]");
}

static void test_the_next_server_knows_it(void **state)
{
    struct learning *learning = *state;
    struct preloads *preloads;

    expect_after(learning, "numpy", "[\"numpy\"]");
    preloads_refuse(import_record_look(learning->record, learning->python), "thready",
                    "leaves a thread");
    expect_after(learning, "json", "[\"numpy\",\"json\"]");
    start_again(learning, NULL);
    preloads = import_record_look(learning->record, learning->python);
    assert_int_equal(json_array_size(preloads->names), 2);
    assert_string_equal(json_object_get_string(preloads->refused, "thready"), "leaves a thread");
}

static void test_another_python_has_its_own(void **state)
{
    struct learning *learning = *state;

    expect_after(learning, "numpy", "[\"numpy\"]");
    write_text(learning->python, "another one");
    start_again(learning, NULL);
    expect_after(learning, NULL, "[]");
}

static void test_names_of_the_operator_are_all_there_is(void **state)
{
    AUTO_JSON json_t *wish = json_pack("[s]", "pandas");

    start_again(*state, wish);
    expect_after(*state, "numpy", "[\"pandas\"]");
}

static void test_none_is_nothing(void **state)
{
    struct learning *learning = *state;
    AUTO_JSON json_t *wish = json_string("none");

    start_again(learning, wish);
    assert_null(import_record_note(learning->record, learning->python, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_a_script_imports_is_imported_ahead_of_the_next,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_no_script_imports_any_more_is_forgotten, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_next_server_knows_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_python_has_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_of_the_operator_are_all_there_is, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_none_is_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
