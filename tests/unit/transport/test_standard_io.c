#include "server/transport/standard_io.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* What a test does in a child with other descriptors at 0, 1 and 2. A step that is not so ends the
 * child with its line as exit status. */
#define CHECK(CONDITION)                                                                           \
    do {                                                                                           \
        if (!(CONDITION))                                                                          \
            _exit(__LINE__ & 0xff ? __LINE__ & 0xff : 1);                                          \
    } while (0)

static void run(void (*child)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        child();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("line %d (modulo 256)", WEXITSTATUS(status));
}

static void put(int in, int out)
{
    CHECK(dup2(in, STDIN_FILENO) == STDIN_FILENO);
    CHECK(dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
}

static bool is_nonblocking(int fd)
{
    return fcntl(fd, F_GETFL) & O_NONBLOCK;
}

static void check_moved(int in, int out)
{
    struct stat status;
    char text[1];

    CHECK(in >= 10 && out >= 10 && in != out);
    CHECK(fcntl(in, F_GETFD) & FD_CLOEXEC && fcntl(out, F_GETFD) & FD_CLOEXEC);
    CHECK(read(STDIN_FILENO, text, 1) == 0);
    CHECK(fstat(STDIN_FILENO, &status) == 0 && S_ISCHR(status.st_mode));
}

static void pipes_in_child(void)
{
    struct standard_io io;
    struct error err = ERROR_INIT;
    char text[16] = "";
    int input[2];
    int output[2];
    int errors[2];
    int in;
    int out;

    CHECK(pipe(input) == 0 && pipe(output) == 0 && pipe(errors) == 0);
    put(input[0], output[1]);
    CHECK(dup2(errors[1], STDERR_FILENO) == STDERR_FILENO);
    CHECK(standard_io_open(&io, &in, &out, &err) == 0);
    check_moved(in, out);
    CHECK(is_nonblocking(in) && is_nonblocking(out));
    CHECK(!is_nonblocking(input[0]) && !is_nonblocking(output[1])); /* those are shared */
    CHECK(write(STDOUT_FILENO, "stray", 5) == 5);
    CHECK(read(errors[0], text, sizeof(text)) == 5);
    CHECK(write(out, "ours", 4) == 4);
    CHECK(read(output[0], text, sizeof(text)) == 4 && memcmp(text, "ours", 4) == 0);
    CHECK(write(input[1], "theirs", 6) == 6);
    CHECK(read(in, text, sizeof(text)) == 6 && memcmp(text, "theirs", 6) == 0);
    close(input[1]);
    CHECK(read(in, text, sizeof(text)) == 0); /* nothing of ours keeps it open */
    standard_io_close(&io);
}

static void test_pipes_are_moved_and_their_sharers_left_alone(void **state)
{
    (void)state;
    run(pipes_in_child);
}

static void sockets_in_child(void)
{
    struct standard_io io;
    struct error err = ERROR_INIT;
    int ends[2];
    int in;
    int out;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    put(ends[0], ends[0]);
    CHECK(standard_io_open(&io, &in, &out, &err) == 0);
    check_moved(in, out);
    CHECK(!is_nonblocking(ends[0]));
    standard_io_close(&io);
}

static void test_sockets_keep_their_flags(void **state)
{
    (void)state;
    run(sockets_in_child);
}

/* A regular file must be read from where it is, not from its beginning. */
static void files_in_child(void)
{
    struct standard_io io;
    struct error err = ERROR_INIT;
    FILE *file = tmpfile();
    char text[4];
    int in;
    int out;

    CHECK(write(fileno(file), "abc", 3) == 3);
    CHECK(lseek(fileno(file), 1, SEEK_SET) == 1);
    put(fileno(file), open("/dev/null", O_WRONLY));
    CHECK(standard_io_open(&io, &in, &out, &err) == 0);
    check_moved(in, out);
    CHECK(read(in, text, sizeof(text)) == 2 && text[0] == 'b');
    standard_io_close(&io);
}

static void test_a_file_is_read_from_where_it_is(void **state)
{
    (void)state;
    run(files_in_child);
}

/* An event counter cannot be opened again. */
static void unopenable_in_child(void)
{
    struct standard_io io;
    struct error err = ERROR_INIT;
    int input = eventfd(0, 0);
    int output = eventfd(0, 0);
    int in;
    int out;

    put(input, output);
    CHECK(standard_io_open(&io, &in, &out, &err) == 0);
    check_moved(in, out);
    CHECK(is_nonblocking(input) && is_nonblocking(output));
    standard_io_close(&io);
    CHECK(!is_nonblocking(input) && !is_nonblocking(output));
    standard_io_close(&io);
    close(in);
    close(out);
}

static void test_flags_that_must_be_changed_are_put_back(void **state)
{
    (void)state;
    run(unopenable_in_child);
}

static void closed_in_child(void)
{
    struct standard_io io;
    struct error err = ERROR_INIT;
    int in = -5;
    int out = -5;

    close(STDIN_FILENO);
    CHECK(standard_io_open(&io, &in, &out, &err) < 0);
    CHECK(strcmp(err.message, "standard input: dup: Bad file descriptor") == 0);
    CHECK(in == -5 && out == -5);
    standard_io_close(&io);
}

static void test_a_closed_standard_input_is_an_error(void **state)
{
    (void)state;
    run(closed_in_child);
}

static void wrong_way_in_child(void)
{
    struct standard_io io;
    struct error err = ERROR_INIT;
    int in;
    int out;

    put(open("/dev/null", O_WRONLY), open("/dev/null", O_WRONLY));
    CHECK(standard_io_open(&io, &in, &out, &err) < 0);
    CHECK(strcmp(err.message, "standard input: it cannot be read") == 0);
}

static void test_one_that_cannot_be_read_too(void **state)
{
    (void)state;
    run(wrong_way_in_child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipes_are_moved_and_their_sharers_left_alone),
        cmocka_unit_test(test_sockets_keep_their_flags),
        cmocka_unit_test(test_a_file_is_read_from_where_it_is),
        cmocka_unit_test(test_flags_that_must_be_changed_are_put_back),
        cmocka_unit_test(test_a_closed_standard_input_is_an_error),
        cmocka_unit_test(test_one_that_cannot_be_read_too),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
