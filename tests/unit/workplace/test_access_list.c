#include "environments/workplace/access_list.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOMEBODY = 4711, ANOTHER = 4712 };

/* Whether UID can open NAME in the directory DIRECTORY, which is its current one. */
static bool can_open(const char *directory, uid_t uid, const char *name, int flags)
{
    int fd = open_directory(directory);
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (fchdir(fd) < 0 || setgid(uid) < 0 || setuid(uid) < 0)
            _exit(2);
        umask(077);
        _exit(open(name, flags, 0644) < 0);
    }
    close(fd);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 0;
}

static void skip_unless_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void test_a_directory_is_opened_to_one_user_and_no_other(void **state)
{
    char *scratch = scratch_new();
    struct error err = ERROR_INIT;

    (void)state;
    skip_unless_root();
    shell(scratch, "chmod 700 . && echo x > old && chmod 600 old");
    assert_false(can_open(scratch, SOMEBODY, "new", O_CREAT | O_WRONLY));
    assert_int_equal(access_list_open_directory(scratch, SOMEBODY, &err), 0);
    assert_true(can_open(scratch, SOMEBODY, "new", O_CREAT | O_WRONLY));
    assert_false(can_open(scratch, ANOTHER, "another", O_CREAT | O_WRONLY));
    assert_false(can_open(scratch, SOMEBODY, "old", O_RDONLY));
    scratch_free(scratch);
}

static void test_several_users_can_be_let_in(void **state)
{
    char *scratch = scratch_new();
    struct error err = ERROR_INIT;

    (void)state;
    skip_unless_root();
    assert_int_equal(access_list_open_directory(scratch, ANOTHER, &err), 0);
    assert_int_equal(access_list_open_directory(scratch, SOMEBODY, &err), 0);
    assert_int_equal(access_list_open_directory(scratch, SOMEBODY, &err), 0);
    assert_true(can_open(scratch, SOMEBODY, "a", O_CREAT | O_WRONLY));
    assert_true(can_open(scratch, ANOTHER, "b", O_CREAT | O_WRONLY));
    scratch_free(scratch);
}

static void test_a_file_can_be_read_and_not_written(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/file", scratch);
    struct error err = ERROR_INIT;

    (void)state;
    skip_unless_root();
    shell(scratch, "chmod 755 . && echo x > file && chmod 600 file");
    assert_int_equal(access_list_open_file(path, SOMEBODY, &err), 0);
    assert_true(can_open(scratch, SOMEBODY, "file", O_RDONLY));
    assert_false(can_open(scratch, SOMEBODY, "file", O_WRONLY));
    assert_false(can_open(scratch, ANOTHER, "file", O_RDONLY));
    scratch_free(scratch);
}

static void test_what_others_could_do_before_they_still_can(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/file", scratch);
    struct error err = ERROR_INIT;

    (void)state;
    skip_unless_root();
    shell(scratch, "chmod 755 . && echo x > file && chmod 644 file");
    assert_int_equal(access_list_open_file(path, SOMEBODY, &err), 0);
    assert_true(can_open(scratch, ANOTHER, "file", O_RDONLY));
    scratch_free(scratch);
}

static void test_what_cannot_be_opened_is_named(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(access_list_open_file("/proc/version", SOMEBODY, &err), -1);
    assert_non_null(strstr(err.message, "/proc/version to user 4711"));
}

/* A container can put them where the script is, and its user would get what they lead to. */
static void test_only_a_file_itself_is_opened_to_somebody(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/file", scratch);
    AUTO_FREE char *target = memory_format("%s/target", scratch);

    (void)state;
    skip_unless_root();
    shell(scratch, "chmod 755 .; echo secret >target; chmod 600 target");
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        struct error err = ERROR_INIT;

        impostor_put(i, path, target);
        (void)access_list_open_file(path, SOMEBODY, &err); /* a file without end is one */
        impostor_remove(path);
    }
    assert_false(can_open(scratch, SOMEBODY, "target", O_RDONLY));
    scratch_free(scratch);
}

static void test_only_a_directory_itself_is_opened_to_somebody(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/link", scratch);
    AUTO_FREE char *below = memory_format("%s/link/in", scratch);
    struct error err = ERROR_INIT;
    struct error second = ERROR_INIT;

    (void)state;
    skip_unless_root();
    shell(scratch,
          "chmod 755 .; mkdir -p target/in; chmod 700 target/in target; ln -s target link");
    assert_int_equal(access_list_open_directory(path, SOMEBODY, &err), -1);
    assert_int_equal(access_list_open_directory(below, SOMEBODY, &second), -1);
    assert_false(can_open(scratch, SOMEBODY, "target", O_RDONLY));
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_directory_is_opened_to_one_user_and_no_other),
        cmocka_unit_test(test_several_users_can_be_let_in),
        cmocka_unit_test(test_a_file_can_be_read_and_not_written),
        cmocka_unit_test(test_what_others_could_do_before_they_still_can),
        cmocka_unit_test(test_what_cannot_be_opened_is_named),
        cmocka_unit_test(test_only_a_file_itself_is_opened_to_somebody),
        cmocka_unit_test(test_only_a_directory_itself_is_opened_to_somebody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
