#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "server/configuration/config.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* The file NAME below DIRECTORY with TEXT; its path, owned by the caller. */
static char *write_file(const char *directory, const char *name, const char *text)
{
    struct error err = ERROR_INIT;
    char *path = memory_format("%s/%s", directory, name);

    *strrchr(path, '/') = '\0';
    assert_int_equal(fd_make_directories(path, 0700, &err), 0);
    path[strlen(path)] = '/';
    write_text(path, text);
    assert_int_equal(chmod(path, 0600), 0); /* whatever the umask of whoever runs the tests */
    return path;
}

static void load_and_expect(const char *path, const char *format)
{
    struct config *config = config_load(path);
    AUTO_FREE char *errors = config_error_text(config);
    AUTO_FREE char *expected = memory_format("%s: %s", path, format);

    assert_string_equal(errors, *format ? expected : "");
    assert_string_equal(config_path(config), path);
    config_free(config);
}

/* A script may have put it there; a FIFO would never open. */
static void test_what_is_no_file_is_refused(void **state)
{
    char *directory = scratch_new();
    AUTO_FREE char *path = memory_format("%s/config.yaml", directory);
    struct config *config;
    AUTO_FREE char *errors = NULL;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    config = config_load(path);
    errors = config_error_text(config);
    assert_non_null(strstr(errors, "is not a regular file"));
    config_free(config);
    scratch_free(directory);
}

static void test_a_file_that_others_may_write_is_refused(void **state)
{
    char *directory = scratch_new();
    AUTO_FREE char *path = write_file(directory, "config.yaml", "timeout: 5\n");
    static const struct {
        mode_t mode;
        const char *refused; /* as messages print the mode, or NULL */
    } cases[] = {
        {0600, NULL}, {0644, NULL}, {0444, NULL}, {0666, "0666"}, {0622, "0622"}, {0602, "0602"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *expected = NULL;

        assert_int_equal(chmod(path, cases[i].mode), 0);
        if (cases[i].refused)
            expected = memory_format("others may write it (mode %s), and it decides what "
                                     "is executed; chmod go-w %s\n",
                                     cases[i].refused, path);
        load_and_expect(path, expected ? expected : "");
    }
    scratch_free(directory);
}

static void test_a_password_is_refused_in_a_file_that_others_may_read(void **state)
{
    char *directory = scratch_new();
    static const struct {
        const char *url;
        mode_t mode;
        bool refused;
    } cases[] = {
        {"https://me:secret@x.example/simple", 0600, false},
        {"https://me:secret@x.example/simple", 0640, true},
        {"https://me:secret@x.example/simple", 0604, true},
        {"https://me:secret@x.example", 0644, true},
        {"https://x.example/simple@1", 0644, false},
        {"https://x.example", 0644, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *text =
            memory_format("environments: {a: {type: venv, pip_index_url: \"%s\"}}", cases[i].url);
        AUTO_FREE char *path = write_file(directory, "config.yaml", text);
        AUTO_FREE char *refusal =
            memory_format("%s:1:47: environments.a.pip_index_url: has a password in it, and others "
                          "may read this file; chmod go-r %s\n",
                          path, path);
        struct config *config;
        AUTO_FREE char *errors = NULL;

        assert_int_equal(chmod(path, cases[i].mode), 0);
        config = config_load(path);
        errors = config_error_text(config);
        assert_string_equal(errors, cases[i].refused ? refusal : "");
        config_free(config);
        unlink(path);
    }
    scratch_free(directory);
}

static void test_a_missing_file_can_be_told_from_a_wrong_one(void **state)
{
    char *directory = scratch_new();
    AUTO_FREE char *path = memory_format("%s/config.yaml", directory);
    struct config *missing = config_load(path);
    struct config *wrong = config_load(directory);

    (void)state;
    assert_true(config_has_errors(missing));
    assert_true(config_is_missing(missing));
    assert_true(config_has_errors(wrong));
    assert_false(config_is_missing(wrong));
    config_free(missing);
    config_free(wrong);
    load_and_expect(path, "cannot be opened: No such file or directory\n");
    scratch_free(directory);
}

static void test_a_large_file_is_not_read(void **state)
{
    char *directory = scratch_new();
    AUTO_FREE char *path = write_file(directory, "config.yaml", "");

    (void)state;
    assert_int_equal(truncate(path, 300000), 0);
    load_and_expect(path, "is larger than 262144 bytes\n");
    scratch_free(directory);
}

static void expect_found(const char *expected)
{
    AUTO_FREE char *found = config_find();

    if (expected)
        assert_string_equal(found, expected);
    else if (found) /* this machine may have one in /etc */
        assert_string_equal(found, "/etc/pyexecd/config.yaml");
}

static void test_the_file_is_found_in_order(void **state)
{
    char *directory = scratch_new();
    AUTO_FREE char *in_home = write_file(directory, ".config/pyexecd/config.yaml", "{}\n");
    AUTO_FREE char *in_xdg = write_file(directory, "xdg/pyexecd/config.yaml", "{}\n");
    AUTO_FREE char *xdg = memory_format("%s/xdg", directory);
    AUTO_FREE char *nowhere = memory_format("%s/nowhere", directory);

    (void)state;
    setenv("HOME", directory, 1);
    setenv("XDG_CONFIG_HOME", xdg, 1);
    setenv("PYEXECD_CONFIG", nowhere, 1);
    expect_found(nowhere);
    setenv("PYEXECD_CONFIG", "", 1);
    expect_found(in_xdg);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    expect_found(in_home);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("PYEXECD_CONFIG");
    expect_found(in_home);
    setenv("XDG_CONFIG_HOME", nowhere, 1);
    expect_found(NULL);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    expect_found(NULL);
    scratch_free(directory);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_a_file_that_others_may_write_is_refused),
        cmocka_unit_test(test_a_password_is_refused_in_a_file_that_others_may_read),
        cmocka_unit_test(test_a_missing_file_can_be_told_from_a_wrong_one),
        cmocka_unit_test(test_a_large_file_is_not_read),
        cmocka_unit_test(test_the_file_is_found_in_order),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
