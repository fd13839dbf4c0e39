#include "environments/process/cgroup_place.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { INTERVAL_MICROSECONDS = 5000, PATIENCE_MICROSECONDS = 100000 };

static void ignore(int number)
{
    (void)number;
}

/* Signals come all the time, none of which restarts a call. */
static void set_interval(suseconds_t microseconds)
{
    const struct sigaction action = {.sa_handler = ignore};
    const struct itimerval interval = {.it_interval.tv_usec = microseconds,
                                       .it_value.tv_usec = microseconds};

    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &interval, NULL), 0);
}

/* A pipe that is full stands for a limit of memory, which the kernel also gives up at a signal. */
static void a_write_that_a_signal_interrupts_is_written(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/limit", scratch);
    AUTO_CLOSE int reader = -1;
    AUTO_CLOSE int writer = -1;
    char block[4096] = {0};
    pid_t child;

    (void)state;
    shell(scratch, "mkfifo limit");
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    while (write(writer, block, sizeof block) > 0) {
    }
    child = fork();
    if (child == 0) {
        usleep(PATIENCE_MICROSECONDS);
        while (read(reader, block, sizeof block) > 0) {
        }
        _exit(0);
    }
    set_interval(INTERVAL_MICROSECONDS);
    assert_int_equal(cgroup_write_entry(scratch, "limit", "1073741824"), 0);
    set_interval(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    scratch_free(scratch);
}

static void an_entry_that_is_missing_is_an_error(void **state)
{
    char *scratch = scratch_new();

    (void)state;
    assert_int_equal(cgroup_write_entry(scratch, "limit", "1"), -1);
    assert_false(cgroup_has_entry(scratch, "limit"));
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_that_a_signal_interrupts_is_written),
        cmocka_unit_test(an_entry_that_is_missing_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
