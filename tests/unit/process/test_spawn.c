#include "environments/process/spawn.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* As a machine does whose filter lets nobody execute the runner. */
static void test_a_runner_that_cannot_be_executed_is_an_error_with_the_reason(void **state)
{
    char *const arguments[] = {(char *)"pyexecd-runner", NULL};
    int executable = open("/dev/null", O_PATH | O_CLOEXEC);
    struct error err = ERROR_INIT;
    struct spawned spawned;

    (void)state;
    assert_int_equal(spawn_runner(&spawned, executable, arguments, &err), -1);
    assert_string_equal(err.message, "cannot execute the runner: Permission denied");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    close(executable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_runner_that_cannot_be_executed_is_an_error_with_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
