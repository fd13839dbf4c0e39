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

#define GOOD  "0123456789abcdef"
#define ABC   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define OTHER "0000000000000000000000000000000000000000000000000000000000000000"

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

/* What was read, and every fault, one a line. */
struct result {
    struct token_file file;
    char faults[4096];
    int status;
};

static void on_fault(void *data, const char *message)
{
    struct result *result = data;
    size_t length = strlen(result->faults);

    snprintf(result->faults + length, sizeof result->faults - length, "%s\n", message);
}

static struct result *read_text(const char *text)
{
    struct result *result = NEW(struct result);
    AUTO_FREE char *copy = memory_copy_string(text);

    result->status = token_file_parse("t", copy, strlen(text), &result->file, on_fault, result);
    assert_int_equal(strlen(copy), 0); /* wiped */
    return result;
}

static void result_free(struct result *result)
{
    token_file_deinit(&result->file);
    free(result);
}

static void test_a_file_may_be_one_token(void **state)
{
    static const char *const texts[] = {GOOD, GOOD "\n", GOOD "\r\n"};
    struct token token = token_of(GOOD, strlen(GOOD));

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct result *result = read_text(texts[i]);

        assert_int_equal(result->status, 0);
        assert_int_equal(result->file.count, 1);
        assert_string_equal(result->file.entries[0].name, "token");
        assert_true(token_equals(&result->file.entries[0].token, &token));
        result_free(result);
    }
}

static void test_a_file_may_have_a_line_for_each(void **state)
{
    struct result *result =
        read_text("# who\n\n"
                  "alice sha256:" ABC "\r\n"
                  "  bob.2\tsha256:" EMPTY " calls_per_minute=120"
                  "  concurrent_runs=2 environments=system,science tools=github \n"
                  "alice sha256:" OTHER);
    const struct token_file_entry *entries = result->file.entries;
    struct token abc = token_of("abc", 3);

    (void)state;
    assert_string_equal(result->faults, "");
    assert_int_equal(result->file.count, 3);
    assert_string_equal(entries[0].name, "alice");
    assert_true(token_equals(&entries[0].token, &abc));
    assert_null(entries[0].environments);
    assert_string_equal(entries[1].name, "bob.2");
    assert_int_equal(entries[1].calls_per_minute, 120);
    assert_int_equal(entries[1].concurrent_runs, 2);
    assert_string_equal(entries[1].environments[0], "system");
    assert_string_equal(entries[1].environments[1], "science");
    assert_null(entries[1].environments[2]);
    assert_string_equal(entries[1].tools[0], "github");
    assert_null(entries[1].tools[1]);
    assert_string_equal(entries[2].name, "alice");
    assert_int_equal(entries[2].line, 5);
    result_free(result);
}

#define FORM "must be: NAME sha256:DIGEST, the digest in 64 hexadecimal digits\n"
#define NAMES                                                                                      \
    "the name must be 1 to 64 letters, digits, dots, - and _, and not tcp, http, uid-... or "      \
    "oauth-...\n"
#define OPTIONS                                                                                    \
    "behind the token there may be calls_per_minute=N, concurrent_runs=N, environments=A,B and "   \
    "tools=A,B\n"

static void test_every_fault_has_its_line(void **state)
{
    static const struct {
        const char *text;
        const char *faults;
    } cases[] = {
        {"", "t:1: there is no token in it\n"},
        {"# nothing\n", "t:1: there is no token in it\n"},
        {"short\n", "t:1: the token has 5 bytes, it needs at least 16 and at most 8192\n"},
        {GOOD "\n\n", "t:1: " FORM},
        {GOOD " and more", "t:1: " FORM},
        {GOOD "\x80", "t:1: " FORM},
        {"alice " GOOD "\n\nbob sha256:12\n", "t:1: " FORM "t:3: " FORM},
        {"al/ice sha256:" ABC, "t:1: " NAMES},
        {"tcp sha256:" ABC "\nuid-0 sha256:" EMPTY, "t:1: " NAMES "t:2: " NAMES},
        {"a sha256:" ABC " admin\n", "t:1: " OPTIONS},
        {"a sha256:" ABC " admin=yes\n", "t:1: " OPTIONS},
        {"a sha256:" ABC " calls_per_minute=0\n",
         "t:1: calls_per_minute must be a number from 1 to 1000000\n"},
        {"a sha256:" ABC " concurrent_runs=-1\n",
         "t:1: concurrent_runs must be a number from 1 to 256\n"},
        {"a sha256:" ABC " concurrent_runs=\n",
         "t:1: concurrent_runs must be a number from 1 to 256\n"},
        {"a sha256:" ABC " concurrent_runs=2 concurrent_runs=3\n",
         "t:1: concurrent_runs is there twice\n"},
        {"a sha256:" ABC " tools=a tools=b\n", "t:1: tools is there twice\n"},
        {"a sha256:" ABC " environments=a,,b\n",
         "t:1: environments must be names with commas between them\n"},
        {"a sha256:" ABC "\nb sha256:" ABC "\n", "t:2: the token of line 1 again\n"},
        {"a sha256:" ABC "\na sha256:" EMPTY " concurrent_runs=1\n",
         "t:2: what a may do stands in its first line, 1\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct result *result = read_text(cases[i].text);

        assert_int_equal(result->status, -1);
        assert_string_equal(result->faults, cases[i].faults);
        assert_int_equal(result->file.count, 0);
        result_free(result);
    }
}

static void test_a_nul_is_a_fault(void **state)
{
    char text[] = GOOD "\0" GOOD;
    struct result result = {0};

    (void)state;
    assert_int_equal(token_file_parse("t", text, sizeof text - 1, &result.file, on_fault, &result),
                     -1);
    assert_string_equal(result.faults, "t:1: there is a NUL in it\n");
}

static void assert_refused(const char *path, const char *words)
{
    struct result result = {0};

    assert_int_equal(token_file_read(path, &result.file, on_fault, &result), -1);
    assert_non_null(strstr(result.faults, words));
}

static void test_a_file_is_read(void **state)
{
    struct result result = {0};

    write_file(*state, GOOD "\n");
    assert_int_equal(token_file_read(*state, &result.file, on_fault, &result), 0);
    assert_int_equal(result.file.count, 1);
    token_file_deinit(&result.file);
}

static void test_a_file_that_others_may_read_is_refused(void **state)
{
    write_file(*state, GOOD);
    assert_int_equal(chmod(*state, 0644), 0);
    assert_refused(*state, "others may read");
}

static void test_a_file_that_is_too_large_is_refused_by_name(void **state)
{
    AUTO_FREE char *beginning = memory_format("%s: ", (const char *)*state);

    assert_int_equal(truncate(*state, TOKEN_FILE_MOST_BYTES + 1), 0);
    assert_refused(*state, beginning);
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    assert_refused("/dev/null", "not a regular file");
    assert_refused("/tmp/pyexecd-test-that-is-not-there", "cannot open");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_may_be_one_token),
        cmocka_unit_test(test_a_file_may_have_a_line_for_each),
        cmocka_unit_test(test_every_fault_has_its_line),
        cmocka_unit_test(test_a_nul_is_a_fault),
        cmocka_unit_test_setup_teardown(test_a_file_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_others_may_read_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_too_large_is_refused_by_name, set_up,
                                        tear_down),
        cmocka_unit_test(test_what_is_no_file_is_refused),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
