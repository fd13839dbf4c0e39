#include "environments/process/machine.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

static void test_a_shortage_proves_nothing(void **state)
{
    static const int shortages[] = {ENOSPC, EUSERS, EMFILE, ENFILE, ENOMEM, EAGAIN, EDQUOT, EINTR};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shortages); i++)
        assert_false(absence_is_proven(shortages[i]));
    assert_true(absence_is_proven(EPERM));
    assert_true(absence_is_proven(ENOSYS));
    assert_true(
        absence_is_proven(E2BIG)); /* of rules upon rules, or of a struct for newer kernels */
}

static void test_what_is_absent_is_tried_again_later(void **state)
{
    struct absence absence = {0};

    (void)state;
    assert_false(absence_is_due(&absence));
    absence_note(&absence, "namespaces: refused");
    assert_string_equal(absence.what, "namespaces: refused");
    assert_false(absence_is_due(&absence));
    absence.until -= 60;
    assert_true(absence_is_due(&absence));
    absence_note(&absence, "namespaces: refused again");
    assert_false(absence_is_due(&absence));
    absence_end(&absence);
    assert_null(absence.what);
    assert_false(absence_is_due(&absence));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shortage_proves_nothing),
        cmocka_unit_test(test_what_is_absent_is_tried_again_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
