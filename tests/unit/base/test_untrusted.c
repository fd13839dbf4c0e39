#include "base/untrusted.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "tests/unit/base/openat2.h"
#include "tests/unit/base/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

enum { LIMIT = 100 };

static int set_up(void **state)
{
    (void)signal(SIGIO, SIG_IGN); /* told to who holds a lease that somebody wants to open */
    return own_directory_make(state);
}

static char *path_to(void **state, const char *name)
{
    return memory_format("%s/%s", (char *)*state, name);
}

static void make_file(void **state, const char *name, const char *text)
{
    AUTO_FREE char *path = path_to(state, name);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void make_directory(void **state, const char *name)
{
    AUTO_FREE char *path = path_to(state, name);

    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link(void **state, const char *name, const char *target)
{
    AUTO_FREE char *path = path_to(state, name);

    assert_int_equal(symlink(target, path), 0);
}

/* Reads NAME in both ways: below a directory, and by its absolute path. Owned by the caller. */
static char *read_both(void **state, const char *name, struct error *err)
{
    AUTO_CLOSE int directory = open(*state, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FREE char *path = path_to(state, name);
    AUTO_FREE char *by_path = NULL;
    struct error again = ERROR_INIT;
    size_t length = 0;
    char *below = untrusted_read(directory, name, LIMIT, &length, err);

    by_path = untrusted_read(AT_FDCWD, path, LIMIT, &length, below ? err : &again);
    assert_int_equal(below == NULL, by_path == NULL);
    if (below)
        assert_string_equal(below, by_path);
    else
        assert_int_equal(err->number, again.number);
    return below;
}

static void assert_refused(void **state, const char *name, const char *reason)
{
    struct error err = ERROR_INIT;

    assert_null(read_both(state, name, &err));
    assert_non_null(strstr(err.message, name));
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
}

static void test_a_regular_file_is_read_whole(void **state)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *text = NULL;

    make_directory(state, "in");
    make_file(state, "in/file", "content");
    text = read_both(state, "in/file", &err);
    assert_string_equal(text, "content");
}

static void test_a_missing_file_is_told_from_others(void **state)
{
    struct error err = ERROR_INIT;

    assert_null(read_both(state, "missing", &err));
    assert_int_equal(err.number, ENOENT);
}

static void test_a_fifo_is_no_file_and_nobody_waits_for_its_writer(void **state)
{
    AUTO_FREE char *path = path_to(state, "fifo");

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(state, "fifo", "is not a regular file");
}

static void test_a_fifo_is_not_opened_for_writing(void **state)
{
    AUTO_FREE char *path = path_to(state, "fifo");
    struct error err = ERROR_INIT;

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(untrusted_open(AT_FDCWD, path, O_WRONLY, &err), -1);
    error_clear(&err);
    assert_int_equal(untrusted_open(AT_FDCWD, path, O_RDWR, &err), -1);
}

static void test_a_link_is_not_followed(void **state)
{
    make_file(state, "file", "secret");
    make_link(state, "link", "file");
    assert_refused(state, "link", "is a link");
}

static void test_a_link_on_the_way_is_not_followed(void **state)
{
    struct error err = ERROR_INIT;

    make_directory(state, "in");
    make_file(state, "in/file", "secret");
    make_link(state, "way", "in");
    assert_null(read_both(state, "way/file", &err));
}

static void test_a_magic_link_is_not_followed(void **state)
{
    AUTO_CLOSE int proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_CLOSE int file = -1;
    AUTO_FREE char *path = path_to(state, "file");
    AUTO_FREE char *name = NULL;
    struct error err = ERROR_INIT;
    size_t length;

    make_file(state, "file", "secret");
    file = open(path, O_RDONLY | O_CLOEXEC);
    name = memory_format("fd/%d", file);
    assert_null(untrusted_read(proc, name, LIMIT, &length, &err));
}

static void test_nothing_leads_out_of_the_directory(void **state)
{
    static const char *const names[] = {"../file", "in/../../file", ".."};
    AUTO_FREE char *path = path_to(state, "below");
    AUTO_CLOSE int directory = -1;

    make_directory(state, "below");
    make_directory(state, "below/in");
    make_file(state, "file", "secret");
    directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(untrusted_open(directory, names[i], O_RDONLY, &err), -1);
        assert_int_equal(err.number, EXDEV);
    }
}

static void test_nobody_waits_for_a_lease(void **state)
{
    AUTO_FREE char *path = path_to(state, "leased");
    AUTO_CLOSE int holder = -1;

    make_file(state, "leased", "content");
    holder = open(path, O_RDWR | O_CLOEXEC);
    while (fcntl(holder, F_SETLEASE, F_WRLCK) < 0)
        assert_int_equal(errno, EAGAIN); /* another program looks at the file at this moment */
    assert_refused(state, "leased", "lease");
}

static void test_a_device_is_no_file(void **state)
{
    struct error err = ERROR_INIT;
    size_t length;

    (void)state;
    assert_null(untrusted_read(AT_FDCWD, "/dev/zero", LIMIT, &length, &err));
    assert_string_equal(err.message, "/dev/zero is not a regular file");
}

static void test_a_socket_is_no_file(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    AUTO_CLOSE int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", (char *)*state);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_refused(state, "socket", "is not a regular file");
}

static void test_a_directory_is_no_file(void **state)
{
    make_directory(state, "directory");
    assert_refused(state, "directory", "is not a regular file");
}

static void test_reading_ends_at_the_limit(void **state)
{
    AUTO_FREE char *path = path_to(state, "huge");

    make_file(state, "huge", "");
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_refused(state, "huge", "is larger than 100 bytes");
}

static void test_a_file_that_is_made_is_the_servers_alone(void **state)
{
    AUTO_FREE char *path = path_to(state, "made");
    struct error err = ERROR_INIT;
    AUTO_CLOSE int fd = untrusted_open(AT_FDCWD, path, O_WRONLY | O_CREAT, &err);
    struct stat status;

    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
}

static void test_a_file_is_not_made_where_a_link_leads(void **state)
{
    AUTO_FREE char *path = path_to(state, "link");
    AUTO_FREE char *target = path_to(state, "target");
    struct error err = ERROR_INIT;

    make_link(state, "link", "target");
    assert_int_equal(untrusted_open(AT_FDCWD, path, O_WRONLY | O_CREAT, &err), -1);
    assert_int_equal(access(target, F_OK), -1);
}

static void test_a_directory_is_opened_and_nothing_else_instead(void **state)
{
    AUTO_CLOSE int directory = open(*state, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_CLOSE int fd = -1;
    struct error err = ERROR_INIT;

    make_directory(state, "in");
    make_file(state, "file", "");
    make_link(state, "link", "in");
    fd = untrusted_open_directory(directory, "in", &err);
    assert_true(fd >= 0);
    assert_int_equal(untrusted_open_directory(directory, "link", &err), -1);
    error_clear(&err);
    assert_int_equal(untrusted_open_directory(directory, "file", &err), -1);
    assert_int_equal(err.number, ENOTDIR);
}

static void test_json_is_loaded_from_a_regular_file(void **state)
{
    AUTO_CLOSE int directory = open(*state, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FREE char *path = path_to(state, "fifo");
    AUTO_JSON json_t *json = NULL;

    make_file(state, "good", "{\"a\": 1}");
    make_file(state, "bad", "{\"a\": ");
    assert_int_equal(mkfifo(path, 0600), 0);
    json = untrusted_load_json(directory, "good", LIMIT);
    assert_int_equal(json_integer_value(json_object_get(json, "a")), 1);
    assert_null(untrusted_load_json(directory, "good", 3));
    assert_null(untrusted_load_json(directory, "bad", LIMIT));
    assert_null(untrusted_load_json(directory, "fifo", LIMIT));
    assert_null(untrusted_load_json(directory, "missing", LIMIT));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(test_##NAME, set_up, own_directory_remove)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_regular_file_is_read_whole),
        TEST(a_missing_file_is_told_from_others),
        TEST(a_fifo_is_no_file_and_nobody_waits_for_its_writer),
        TEST(a_fifo_is_not_opened_for_writing),
        TEST(a_link_is_not_followed),
        TEST(a_link_on_the_way_is_not_followed),
        TEST(a_magic_link_is_not_followed),
        TEST(nothing_leads_out_of_the_directory),
        TEST(nobody_waits_for_a_lease),
        TEST(a_device_is_no_file),
        TEST(a_socket_is_no_file),
        TEST(a_directory_is_no_file),
        TEST(reading_ends_at_the_limit),
        TEST(a_file_that_is_made_is_the_servers_alone),
        TEST(a_file_is_not_made_where_a_link_leads),
        TEST(a_directory_is_opened_and_nothing_else_instead),
        TEST(json_is_loaded_from_a_regular_file),
    };
    int failed = cmocka_run_group_tests_name("with openat2", tests, NULL, NULL);

    return failed + cmocka_run_group_tests_name("part by part", tests, openat2_take_away, NULL);
}
