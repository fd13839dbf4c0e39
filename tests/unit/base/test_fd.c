#include "base/fd.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/base/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void write_file(const char *path, const char *data, size_t length)
{
    struct error err = ERROR_INIT;
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, data, length, &err), 0);
}

static void test_a_file_is_read_whole_with_its_nul_bytes(void **state)
{
    static const size_t lengths[] = {0, 1, 4094, 4095, 4096, 4097, 100000};
    AUTO_FREE char *path = memory_format("%s/file", (char *)*state);
    AUTO_FREE char *data = memory_new(100000, 1);

    memset(data + 1, 'x', 99999);
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        struct error err = ERROR_INIT;
        size_t length = 7;
        AUTO_FREE char *read = NULL;

        write_file(path, data, lengths[i]);
        read = fd_read_file(path, lengths[i], &length, &err);
        assert_non_null(read);
        assert_int_equal(length, lengths[i]);
        assert_memory_equal(read, data, length);
        assert_int_equal(read[length], '\0');
    }
}

static void test_a_file_beyond_the_limit_is_an_error(void **state)
{
    AUTO_FREE char *path = memory_format("%s/file", (char *)*state);
    struct error err = ERROR_INIT;
    size_t length;

    write_file(path, "12345", 5);
    assert_null(fd_read_file(path, 4, &length, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "is larger than 4 bytes"));
}

static void test_what_cannot_be_read_is_named(void **state)
{
    AUTO_FREE char *path = memory_format("%s/missing", (char *)*state);
    struct error err = ERROR_INIT;
    size_t length;

    assert_null(fd_read_file(path, 10, &length, &err));
    assert_int_equal(err.number, ENOENT);
    assert_non_null(strstr(err.message, path));
    err = (struct error)ERROR_INIT;
    assert_null(fd_read_file(*state, 10, &length, &err));
    assert_int_equal(err.number, EISDIR);
}

static void test_directories_are_made_with_their_parents(void **state)
{
    static const char *const names[] = {"a", "a/b/c", "a/b/c", "d//e/", "d/./f"};
    struct stat status;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        AUTO_FREE char *path = memory_format("%s/%s", (char *)*state, names[i]);
        struct error err = ERROR_INIT;

        assert_int_equal(fd_make_directories(path, 0700, &err), 0);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode, S_IFDIR | 0700);
    }
}

static void test_a_file_in_the_way_of_a_directory_is_an_error(void **state)
{
    AUTO_FREE char *path = memory_format("%s/file", (char *)*state);
    AUTO_FREE char *below = memory_format("%s/below", path);
    struct error err = ERROR_INIT;

    write_file(path, "", 0);
    assert_int_equal(fd_make_directories(path, 0700, &err), -1);
    assert_int_equal(err.number, ENOTDIR);
    err = (struct error)ERROR_INIT;
    assert_int_equal(fd_make_directories(below, 0700, &err), -1);
    assert_int_equal(err.number, ENOTDIR);
}

static void test_the_root_exists_and_no_name_is_an_error(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(fd_make_directories("/", 0700, &err), 0);
    assert_int_equal(fd_make_directories("", 0700, &err), -1);
    assert_int_equal(err.number, ENOENT);
}

static void test_a_descriptor_no_longer_blocks(void **state)
{
    struct error err = ERROR_INIT;
    char byte;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fd_set_nonblocking(ends[0], &err), 0);
    assert_int_equal(read(ends[0], &byte, 1), -1);
    assert_int_equal(errno, EAGAIN);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(fd_set_nonblocking(ends[0], &err), -1);
    assert_int_equal(err.number, EBADF);
}

enum { SMALL_PIPE_BYTES = 4096, MANY_BYTES = 100000 };

static int count_unread(int fd)
{
    int count;

    assert_int_equal(ioctl(fd, FIONREAD, &count), 0);
    return count;
}

/* A process that reads all from FD, once the pipe is full; it ends well if that was enough. */
static pid_t start_late_reader(int fd, int other_end)
{
    pid_t pid = fork();
    char bytes[SMALL_PIPE_BYTES];
    size_t total = 0;
    ssize_t count;

    if (pid != 0)
        return pid;
    close(other_end);
    while (count_unread(fd) < SMALL_PIPE_BYTES)
        usleep(1000);
    while ((count = read(fd, bytes, sizeof bytes)) > 0)
        total += (size_t)count;
    _exit(total != MANY_BYTES);
}

static void test_a_nonblocking_descriptor_is_waited_for(void **state)
{
    static const char bytes[MANY_BYTES];
    struct error err = ERROR_INIT;
    int ends[2];
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, SMALL_PIPE_BYTES), SMALL_PIPE_BYTES);
    assert_int_equal(fd_set_nonblocking(ends[1], &err), 0);
    pid = start_late_reader(ends[0], ends[1]);
    close(ends[0]);
    assert_int_equal(fd_write_all(ends[1], bytes, sizeof bytes, &err), 0);
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_room_is_what_a_write_does_not_wait_for(void **state)
{
    static char bytes[PIPE_BUF];
    struct error err = ERROR_INIT;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    while (fd_has_room(ends[1]))
        assert_int_equal(write(ends[1], bytes, sizeof bytes), sizeof bytes);
    assert_in_range(count_unread(ends[0]), sizeof bytes, INT_MAX);
    assert_int_equal(read(ends[0], bytes, sizeof bytes), sizeof bytes);
    assert_true(fd_has_room(ends[1]));
    while (fd_has_room(ends[1]))
        assert_int_equal(fd_write_all(ends[1], bytes, sizeof bytes, &err), 0);
    close(ends[0]);
    assert_true(fd_has_room(ends[1])); /* what fails does not wait */
    close(ends[1]);
}

static void test_writing_to_nobody_is_an_error(void **state)
{
    struct error err = ERROR_INIT;
    int ends[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    assert_int_equal(fd_write_all(ends[1], "x", 1, &err), -1);
    assert_int_equal(err.number, EPIPE);
    close(ends[1]);
}

#define IN_DIRECTORY(NAME)                                                                         \
    cmocka_unit_test_setup_teardown(NAME, own_directory_make, own_directory_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_a_file_is_read_whole_with_its_nul_bytes),
        IN_DIRECTORY(test_a_file_beyond_the_limit_is_an_error),
        IN_DIRECTORY(test_what_cannot_be_read_is_named),
        IN_DIRECTORY(test_directories_are_made_with_their_parents),
        IN_DIRECTORY(test_a_file_in_the_way_of_a_directory_is_an_error),
        IN_DIRECTORY(test_the_root_exists_and_no_name_is_an_error),
        IN_DIRECTORY(test_a_descriptor_no_longer_blocks),
        cmocka_unit_test(test_a_nonblocking_descriptor_is_waited_for),
        cmocka_unit_test(test_room_is_what_a_write_does_not_wait_for),
        IN_DIRECTORY(test_writing_to_nobody_is_an_error),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
