#include "server/tools/python/approval_form.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void the_form_has_one_field(void **state)
{
    static const enum approval_policy policies[] = {APPROVAL_FIRST, APPROVAL_ALWAYS};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        AUTO_JSON json_t *form = approval_form(policies[i]);
        const json_t *field = json_object_get(json_object_get(form, "properties"), "approve");

        assert_int_equal(json_object_size(json_object_get(form, "properties")), 1);
        assert_int_equal(json_array_size(json_object_get(field, "oneOf")),
                         policies[i] == APPROVAL_FIRST ? 3 : 2);
        assert_string_equal(json_object_get_string(field, "default"), "no");
    }
}

static void words_are_understood_as_people_type_them(void **state)
{
    static const struct {
        enum approval_policy policy;
        const char *typed;
        enum approval_choice choice;
        const char *reason;
    } cases[] = {
        {APPROVAL_ALWAYS, "yes", APPROVAL_CHOICE_YES, NULL},
        {APPROVAL_ALWAYS, " Yes.\n", APPROVAL_CHOICE_YES, NULL},
        {APPROVAL_ALWAYS, "y", APPROVAL_CHOICE_YES, NULL},
        {APPROVAL_ALWAYS, "no", APPROVAL_CHOICE_NO, NULL},
        {APPROVAL_ALWAYS, "No: use the test data", APPROVAL_CHOICE_NO, "use the test data"},
        {APPROVAL_FIRST, "once", APPROVAL_CHOICE_ONCE, NULL},
        {APPROVAL_FIRST, "YES", APPROVAL_CHOICE_YES, NULL},
        /* no clear words */
        {APPROVAL_ALWAYS, "once", APPROVAL_CHOICE_NONE, NULL},
        {APPROVAL_ALWAYS, "yes, but without the network", APPROVAL_CHOICE_NONE, NULL},
        {APPROVAL_ALWAYS, "yesterday", APPROVAL_CHOICE_NONE, NULL},
        {APPROVAL_ALWAYS, "now", APPROVAL_CHOICE_NONE, NULL},
        {APPROVAL_ALWAYS, "true", APPROVAL_CHOICE_NONE, NULL},
        {APPROVAL_ALWAYS, "", APPROVAL_CHOICE_NONE, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *content = json_pack("{s:s}", "approve", cases[i].typed);
        const char *reason;

        assert_int_equal(approval_form_read(content, cases[i].policy, &reason), cases[i].choice);
        if (cases[i].reason)
            assert_string_equal(reason, cases[i].reason);
        else if (cases[i].choice != APPROVAL_CHOICE_NONE)
            assert_null(reason);
    }
}

static void what_is_no_text_is_no_answer(void **state)
{
    AUTO_JSON json_t *content = json_pack("{s:b}", "approve", 1);
    const char *reason;

    (void)state;
    assert_int_equal(approval_form_read(content, APPROVAL_ALWAYS, &reason), APPROVAL_CHOICE_NONE);
    assert_int_equal(approval_form_read(NULL, APPROVAL_ALWAYS, &reason), APPROVAL_CHOICE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_has_one_field),
        cmocka_unit_test(words_are_understood_as_people_type_them),
        cmocka_unit_test(what_is_no_text_is_no_answer),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
