/* What the server believes of the helper that decodes pictures. */
#include "environments/pictures/picture_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* ANSWER with LENGTH bytes behind it is read. */
static bool is_read(struct picture_answer answer, size_t length)
{
    static char message[sizeof answer + PICTURE_BYTES + 1];
    struct picture_answer ret;

    memcpy(message, &answer, sizeof answer);
    return picture_answer_read(&ret, message, sizeof answer + length);
}

static const struct picture_answer good = {
    .verdict = PICTURE_SHOWN, .format = PICTURE_WEBP, .width = 1568, .height = 1, .length = 10};

static void test_an_answer_is_read(void **state)
{
    struct picture_answer largest = good;

    (void)state;
    largest.length = PICTURE_BYTES;
    assert_true(is_read(good, 10));
    assert_true(is_read(largest, PICTURE_BYTES));
    assert_true(is_read((struct picture_answer){.verdict = PICTURE_UNREADABLE}, 0));
    assert_true(is_read((struct picture_answer){.verdict = PICTURE_TOO_LARGE}, 0));
}

static void test_what_is_cut_or_too_long_is_none(void **state)
{
    struct picture_answer ret;
    struct picture_answer large = good;

    (void)state;
    large.length = PICTURE_BYTES + 1;
    assert_false(picture_answer_read(&ret, NULL, 0));
    assert_false(picture_answer_read(&ret, (const char *)&good, sizeof good - 1));
    assert_false(is_read(good, 9));
    assert_false(is_read(good, 11));
    assert_false(is_read(large, PICTURE_BYTES + 1));
}

static void test_what_no_helper_of_ours_says_is_none(void **state)
{
    struct picture_answer wrong[5];

    (void)state;
    for (size_t i = 0; i < 5; i++)
        wrong[i] = good;
    wrong[0].verdict = PICTURE_SHOWN + 1;
    wrong[1].format = PICTURE_FORMATS;
    wrong[2].width = 1569;
    wrong[3].height = 0;
    wrong[4].length = 0;
    for (size_t i = 0; i < 5; i++)
        assert_false(is_read(wrong[i], wrong[i].length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_is_read),
        cmocka_unit_test(test_what_is_cut_or_too_long_is_none),
        cmocka_unit_test(test_what_no_helper_of_ours_says_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
