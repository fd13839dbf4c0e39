/* Transports of a process that serves standard input and output, or has a service manager. */
#include "server/transport/transport.h"

#include "tests/unit/transport/served.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

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
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Runs BODY with pipes as standard input and output, in a child. */
static void with_standard_io(void (*body)(struct served *served, int in, int out))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct served *served = served_new();
        int input[2];
        int output[2];

        if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0 ||
            dup2(input[0], STDIN_FILENO) < 0 || dup2(output[1], STDOUT_FILENO) < 0)
            _exit(99);
        close(input[0]);
        close(output[1]);
        served->addresses[0] = "stdio";
        body(served, input[1], output[0]);
        served_free(served);
        exit(0); /* lets a sanitizer look for leaks */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define CHECK(CONDITION)                                                                           \
    do {                                                                                           \
        if (!(CONDITION)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #CONDITION);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static bool has_line(int fd, const char *wanted)
{
    char text[64] = "";

    return read(fd, text, sizeof(text) - 1) == (ssize_t)strlen(wanted) && strcmp(text, wanted) == 0;
}

static void stdio_ends(struct served *served, int in, int out)
{
    served_open(served);
    CHECK(write(in, "echo hello\ncall\n", 16) == 16);
    close(in);
    ev_run(served->loop, 0);
    CHECK(served->finishes == 1);
    CHECK(session_double.cancelled == 1);
    CHECK(has_line(out, "hello\n"));
}

static void test_the_end_of_stdio_is_the_end_of_the_server(void **state)
{
    ev_tstamp start = ev_time();

    (void)state;
    with_standard_io(stdio_ends);
    assert_true(ev_time() - start >= 0.9); /* the call had its grace */
    assert_true(ev_time() - start < 2);
}

static void stdio_breaks(struct served *served, int in, int out)
{
    served_open(served);
    close(out);
    CHECK(write(in, "call\necho hello\n", 16) == 16);
    ev_run(served->loop, 0);
    CHECK(served->finishes == 1);
    CHECK(session_double.cancelled == 1);
    close(in);
}

static void test_a_broken_stdout_ends_it_at_once(void **state)
{
    ev_tstamp start = ev_time();

    (void)state;
    with_standard_io(stdio_breaks);
    assert_true(ev_time() - start < 1);
}

static void stdio_and_unix(struct served *served, int in, int out)
{
    int client;

    (void)out;
    served->addresses[1] = served->unix_address;
    served_open(served);
    client = served_connect(served->unix_address);
    served_say(client, "call\n");
    TURN_UNTIL(served->loop, session_double.lines == 1);
    close(client);
    TURN_UNTIL(served->loop, session_double.cancelled == 1);
    CHECK(served->finishes == 0); /* a socket's client is not the one */
    close(in);
    ev_run(served->loop, 0);
    CHECK(served->finishes == 1);
}

static void test_clients_of_sockets_come_and_go_beside_stdio(void **state)
{
    (void)state;
    with_standard_io(stdio_and_unix);
}

static void service_manager(struct served *served, int in, int out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[64] = "";
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    (void)out;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/manager", served_folder());
    CHECK(bind(manager, (struct sockaddr *)&address, sizeof(address)) == 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    served_open(served);
    CHECK(has_line(manager, "READY=1"));
    transport_stop(served->transport);
    CHECK(has_line(manager, "STOPPING=1"));
    ev_run(served->loop, 0);
    CHECK(recv(manager, text, sizeof(text), 0) < 0); /* said once */
    close(manager);
    unlink(address.sun_path);
    close(in);
}

static void test_the_service_manager_hears_of_both_ends(void **state)
{
    (void)state;
    with_standard_io(service_manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_of_stdio_is_the_end_of_the_server),
        cmocka_unit_test(test_a_broken_stdout_ends_it_at_once),
        cmocka_unit_test(test_clients_of_sockets_come_and_go_beside_stdio),
        cmocka_unit_test(test_the_service_manager_hears_of_both_ends),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, served_set_up, served_tear_down);
}
