#include "server/watchdog.h"

#include "server/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { SECONDS = 1 };

static double seconds_used(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void spin(double seconds)
{
    const double end = seconds_used() + seconds;

    while (seconds_used() < end)
        ;
}

static void on_long_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    spin(60.);
}

static void on_short_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    double *left = timer->data;

    (void)events;
    spin(0.5);
    *left -= 0.5;
    if (*left <= 0)
        ev_timer_stop(loop, timer);
}

/* How a process ends in which CALLBACK is called again and again, and what it says. */
static int status_with(void (*callback)(struct ev_loop *, ev_timer *, int), char said[static 4096])
{
    double left = SECONDS + 2.;
    int ends[2];
    int status;
    ssize_t length;
    size_t total = 0;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct ev_loop *loop = loop_new();
        struct watchdog watchdog;
        ev_timer timer;

        dup2(ends[1], STDERR_FILENO);
        watchdog_start(&watchdog, loop, SECONDS);
        ev_timer_init(&timer, callback, 0., 0.001);
        timer.data = &left;
        ev_timer_start(loop, &timer);
        ev_run(loop, 0);
        watchdog_stop(&watchdog, loop);
        spin(SECONDS + 1.);
        _exit(0);
    }
    close(ends[1]);
    while ((length = read(ends[0], said + total, 4095 - total)) > 0)
        total += (size_t)length;
    said[total] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_a_turn_that_does_not_end_ends_the_process_and_is_named(void **state)
{
    char said[4096];

    (void)state;
    assert_int_equal(status_with(on_long_turn, said), WATCHDOG_STATUS);
    assert_non_null(strstr(said, "does not come back to its clients"));
    assert_non_null(strstr(said, "test_server_watchdog"));
}

static void test_the_process_ends_though_nobody_reads_what_it_says(void **state)
{
    const char bytes[4096] = {0};
    int ends[2];
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct watchdog watchdog;

        dup2(ends[1], STDERR_FILENO);
        watchdog_start(&watchdog, loop_new(), SECONDS);
        spin(60.);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    close(ends[0]);
    close(ends[1]);
}

static void test_many_short_turns_and_no_loop_at_all_are_fine(void **state)
{
    char said[4096];

    (void)state;
    assert_int_equal(status_with(on_short_turn, said), 0);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_turn_that_does_not_end_ends_the_process_and_is_named),
        cmocka_unit_test(test_the_process_ends_though_nobody_reads_what_it_says),
        cmocka_unit_test(test_many_short_turns_and_no_loop_at_all_are_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
