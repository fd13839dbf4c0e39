#include "server/token_file.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define GOOD "0123456789abcdef"

static int set_up(void **state)
{
    char *path = memory_copy_string("/tmp/pyexecd-test-XXXXXX");
    AUTO_CLOSE int fd = mkstemp(path);

    assert_true(fd >= 0);
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    unlink(*state);
    free(*state);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_TRUNC);

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void test_the_line_break_is_not_part_of_it(void **state)
{
    static const char *const texts[] = {GOOD, GOOD "\n", GOOD "\r\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *token = NULL;

        write_file(*state, texts[i]);
        token = token_file_read(*state, &err);
        assert_non_null(token);
        assert_string_equal(token, GOOD);
    }
}

static void assert_refused(const char *path, const char *words)
{
    struct error err = ERROR_INIT;

    assert_null(token_file_read(path, &err));
    assert_non_null(strstr(err.message, words));
}

static void test_what_is_no_secret_word_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {
        {"", "has 0 bytes, it needs at least 16"},
        {"short\n", "has 5 bytes"},
        {GOOD "\n\n", "not one word"},
        {GOOD " and more", "not one word"},
        {GOOD "\x80", "not one word"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(*state, cases[i].text);
        assert_refused(*state, cases[i].words);
    }
}

static void test_a_file_that_others_may_read_is_refused(void **state)
{
    write_file(*state, GOOD);
    assert_int_equal(chmod(*state, 0644), 0);
    assert_refused(*state, "others may read");
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    assert_refused("/dev/null", "no regular file");
    assert_refused("/tmp/pyexecd-test-that-is-not-there", "cannot open");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_line_break_is_not_part_of_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_secret_word_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_others_may_read_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test(test_what_is_no_file_is_refused),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
