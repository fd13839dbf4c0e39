#include "server/tools/python/file_range.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <sys/mman.h>

/* A file that holds TEXT. */
static int file_of(const char *text, size_t length)
{
    int fd = memfd_create("file", MFD_CLOEXEC);

    assert_int_equal(write(fd, text, length), (ssize_t)length);
    return fd;
}

static void test_a_range_is_what_was_asked_for(void **state)
{
    static const struct {
        const char *values;
        const char *expected; /* NULL: refused */
        bool is_text;
    } cases[] = {
        {"{}", "a\xC3\xA4z\n", true},
        {"{\"offset\":\"3\"}", "z\n", true},
        {"{\"offset\":\"5\"}", "", true},
        {"{\"offset\":\"6\"}", NULL, false},
        {"{\"length\":\"1\"}", "a", true},
        {"{\"length\":\"2\"}", "a", true}, /* not half a character */
        {"{\"offset\":\"1\",\"length\":\"1\"}", "\xC3", false},
        {"{\"offset\":\"2\",\"length\":\"2\"}", "\xA4z", false},
        {"{\"length\":\"1000000000000\"}", "a\xC3\xA4z\n", true},
        {"{\"length\":\"0\"}", NULL, false},
        {"{\"length\":\"\"}", NULL, false},
        {"{\"offset\":\"+1\"}", NULL, false},
        {"{\"offset\":\"1234567890123456789\"}", NULL, false},
    };
    AUTO_CLOSE int fd = file_of("a\xC3\xA4z\n", 5);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *values = json_loads(cases[i].values, 0, NULL);
        struct error err = ERROR_INIT;
        struct file_range range;
        int ret = file_range_parse(&range, values, &err);

        if (ret == 0)
            ret = file_range_read(&range, fd, &err);
        assert_int_equal(ret, cases[i].expected ? 0 : -1);
        if (ret == 0) {
            assert_int_equal(range.length, strlen(cases[i].expected));
            assert_memory_equal(range.bytes, cases[i].expected, range.length);
            assert_int_equal(range.is_text, cases[i].is_text);
        }
        file_range_deinit(&range);
    }
}

/* The length of the first piece of a file of LENGTH bytes: TEXT again and again. */
static size_t first_piece(const char *text, size_t length)
{
    AUTO_FREE char *whole = memory_new(length + strlen(text), 1);
    struct file_range range = {0};
    struct error err = ERROR_INIT;
    AUTO_CLOSE int fd = -1;
    size_t first;

    for (size_t i = 0; i < length; i += strlen(text))
        memcpy(whole + i, text, strlen(text));
    fd = file_of(whole, length);
    assert_int_equal(file_range_read(&range, fd, &err), 0);
    assert_int_equal(file_range_has_more(&range), range.length < length);
    first = range.length;
    file_range_deinit(&range);
    return first;
}

static void test_the_first_piece_ends_well(void **state)
{
    (void)state;
    assert_int_equal(first_piece("0123456\n", FILE_RANGE_TEXT), FILE_RANGE_TEXT);
    assert_int_equal(first_piece("0123456\n", FILE_RANGE_TEXT + 8), FILE_RANGE_TEXT);
    assert_int_equal(first_piece("01234567\n", FILE_RANGE_TEXT + 9), FILE_RANGE_TEXT / 9 * 9);
    assert_int_equal(first_piece("\xE2\x82\xAC", FILE_RANGE_TEXT / 3 * 3 + 9),
                     FILE_RANGE_TEXT / 3 * 3);
    assert_int_equal(first_piece("\xFF", FILE_RANGE_BYTES + 1), FILE_RANGE_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_range_is_what_was_asked_for),
        cmocka_unit_test(test_the_first_piece_ends_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
