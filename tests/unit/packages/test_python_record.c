/* Answers kept from one server to the next. */
#include "environments/packages/python_record.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/file_identity.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct place {
    char *scratch;
    char *python; /* owned; a file in scratch */
    json_t *answer;
};

static void keep(struct place *place, const json_t *answer)
{
    struct file_identity file;

    file_identity_read(&file, place->python);
    python_record_keep(place->scratch, "answers", place->python, &file, answer);
}

static int setup(void **state)
{
    struct place *place = NEW(struct place);

    place->scratch = scratch_new();
    place->python = memory_format("%s/python", place->scratch);
    place->answer = json_pack("{s:s}", "version", "3.11.2");
    write_text(place->python, "one");
    keep(place, place->answer);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;

    json_decref(place->answer);
    free(place->python);
    scratch_free(place->scratch);
    free(place);
    return 0;
}

static void test_an_answer_is_found_again(void **state)
{
    struct place *place = *state;
    AUTO_JSON json_t *found = python_record_load(place->scratch, "answers", place->python);

    assert_true(json_equal(found, place->answer));
    assert_null(python_record_load(place->scratch, "answers", "/nowhere/python"));
}

static void test_a_newer_answer_takes_its_place(void **state)
{
    struct place *place = *state;
    AUTO_JSON json_t *newer = json_pack("{s:s}", "version", "3.11.3");
    AUTO_JSON json_t *found = NULL;

    keep(place, newer);
    found = python_record_load(place->scratch, "answers", place->python);
    assert_true(json_equal(found, newer));
}

static void test_an_answer_of_another_program_does_not_hold(void **state)
{
    struct place *place = *state;

    write_text(place->python, "another");
    assert_null(python_record_load(place->scratch, "answers", place->python));
}

static void test_a_link_in_the_place_of_an_answer_is_not_followed(void **state)
{
    struct place *place = *state;

    shell(place->scratch,
          "for file in answers/*.json; do mv $file away && ln -s ../away $file; done");
    assert_null(python_record_load(place->scratch, "answers", place->python));
}

static void test_an_answer_in_another_form_is_none(void **state)
{
    struct place *place = *state;

    shell(place->scratch, "sed -i s/.format.:1/\\\"format\\\":2/ answers/*.json");
    assert_null(python_record_load(place->scratch, "answers", place->python));
    shell(place->scratch, "for file in answers/*.json; do echo nonsense >$file; done");
    assert_null(python_record_load(place->scratch, "answers", place->python));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_answer_is_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_newer_answer_takes_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_answer_of_another_program_does_not_hold, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_link_in_the_place_of_an_answer_is_not_followed,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_answer_in_another_form_is_none, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
