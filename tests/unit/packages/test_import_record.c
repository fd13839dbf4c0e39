/* What scripts have imported lately. */
#include "environments/packages/import_record.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/process/preloads.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

struct learning {
    char *scratch;
    char *python; /* owned; a file in scratch */
    json_t *automatic;
    struct import_record *record;
};

static int setup(void **state)
{
    struct learning *learning = NEW(struct learning);

    learning->scratch = scratch_new();
    learning->python = memory_format("%s/python", learning->scratch);
    write_text(learning->python, "one");
    learning->automatic = json_string("auto");
    learning->record = import_record_new(learning->scratch, learning->automatic);
    *state = learning;
    return 0;
}

static int teardown(void **state)
{
    struct learning *learning = *state;

    import_record_free(learning->record);
    json_decref(learning->automatic);
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

/* A script of OWNER imports NAME, or nothing: then EXPECTED is imported ahead of the next. */
static void expect_of(struct learning *learning, const char *owner, const char *name,
                      const char *expected)
{
    AUTO_JSON json_t *names = name ? json_pack("[s]", name) : json_array();
    AUTO_FREE char *text =
        json_text(import_record_note(learning->record, owner, learning->python, names)->names);

    assert_string_equal(text, expected);
}

static void expect_after(struct learning *learning, const char *name, const char *expected)
{
    expect_of(learning, "alice", name, expected);
}

static struct preloads *look(struct learning *learning, const char *owner)
{
    return import_record_note(learning->record, owner, learning->python, NULL);
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
    preloads_refuse(look(learning, "alice"), "thready", "leaves a thread");
    expect_after(learning, "json", "[\"numpy\",\"json\"]");
    start_again(learning, learning->automatic);
    preloads = look(learning, "alice");
    assert_int_equal(json_array_size(preloads->names), 2);
    assert_string_equal(json_object_get_string(preloads->refused, "thready"), "leaves a thread");
}

static void test_nobody_learns_what_another_one_imports(void **state)
{
    struct learning *learning = *state;

    expect_of(learning, "alice", "numpy", "[\"numpy\"]");
    expect_of(learning, "bob", "json", "[\"json\"]");
    preloads_refuse(look(learning, "alice"), "thready", "leaves a thread");
    start_again(learning, learning->automatic);
    expect_of(learning, "bob", NULL, "[\"json\"]");
    assert_int_equal(json_object_size(look(learning, "bob")->refused), 0);
    expect_of(learning, "carol", NULL, "[]");
    expect_of(learning, "alice", NULL, "[\"numpy\"]");
}

static void test_the_operator_sees_what_all_import(void **state)
{
    struct learning *learning = *state;
    AUTO_JSON json_t *expected = json_pack("{s:[s, s], s:{s:s}}", "names", "numpy", "json",
                                           "refused", "thready", "leaves a thread");
    AUTO_JSON json_t *description = NULL;

    expect_of(learning, "alice", "numpy", "[\"numpy\"]");
    expect_of(learning, "bob", "numpy", "[\"numpy\"]");
    expect_of(learning, "bob", "json", "[\"numpy\",\"json\"]");
    preloads_refuse(look(learning, "bob"), "thready", "leaves a thread");
    description = import_record_describe(learning->record, learning->python);
    assert_true(json_equal(description, expected));
}

static bool is_kept(const struct learning *learning, const char *name)
{
    AUTO_FREE char *command =
        memory_format("grep -qs %s %s/imports/*.json", name, learning->scratch);

    return system(command) == 0;
}

static void test_what_cannot_be_imported_is_forgotten(void **state)
{
    struct learning *learning = *state;

    expect_after(learning, "numpy", "[\"numpy\"]");
    expect_after(learning, "secret", "[\"numpy\",\"secret\"]");
    preloads_fail(look(learning, "alice"), "secret");
    start_again(learning, learning->automatic);
    assert_true(is_kept(learning, "numpy"));
    assert_false(is_kept(learning, "secret"));
    expect_after(learning, "secret", "[\"numpy\",\"secret\"]");
    preloads_fail(look(learning, "alice"), "secret");
    expect_after(learning, NULL, "[\"numpy\"]");
    assert_false(is_kept(learning, "secret"));
}

static void test_many_owners_are_not_all_remembered(void **state)
{
    struct learning *learning = *state;
    char owner[32];

    expect_of(learning, "alice", "numpy", "[\"numpy\"]");
    for (int i = 0; i < 100; i++) {
        snprintf(owner, sizeof owner, "owner %d", i);
        expect_of(learning, owner, "json", "[\"json\"]");
        if (i == 20)
            expect_of(learning, "alice", NULL, "[\"numpy\"]");
    }
    expect_of(learning, owner, NULL, "[\"json\"]");
    expect_of(learning, "alice", NULL, "[]");
}

static void test_another_python_has_its_own(void **state)
{
    struct learning *learning = *state;

    expect_after(learning, "numpy", "[\"numpy\"]");
    write_text(learning->python, "another one");
    start_again(learning, learning->automatic);
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
    assert_null(look(learning, "alice"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_a_script_imports_is_imported_ahead_of_the_next,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_no_script_imports_any_more_is_forgotten, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_next_server_knows_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nobody_learns_what_another_one_imports, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_operator_sees_what_all_import, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_imported_is_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_owners_are_not_all_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_python_has_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_of_the_operator_are_all_there_is, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_none_is_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
