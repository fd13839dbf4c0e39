#include "base/state.h"

#include "base/log.h"
#include "tests/unit/base/listening.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum door_state { DOOR_OPEN, DOOR_CLOSED, DOOR_LOCKED };

static const struct state door_states[] = {
    [DOOR_OPEN] = {"open", 1 << DOOR_CLOSED},
    [DOOR_CLOSED] = {"closed", 1 << DOOR_OPEN | 1 << DOOR_LOCKED},
    [DOOR_LOCKED] = {"locked", 0},
};

static void test_a_step_is_logged_with_its_owner(void **state)
{
    struct listening listening = listen_to_stderr();

    (void)state;
    log_open(LOG_LEVEL_DEBUG);
    state_change(door_states, DOOR_CLOSED, DOOR_LOCKED, "door %d", 3);
    log_open(LOG_LEVEL_WARNING);
    assert_heard(&listening, "pyexecd: door 3: closed -> locked\n");
}

static void test_a_step_is_silent_above_the_debug_level(void **state)
{
    struct listening listening = listen_to_stderr();

    (void)state;
    log_open(LOG_LEVEL_INFO);
    state_change(door_states, DOOR_OPEN, DOOR_CLOSED, "door");
    log_open(LOG_LEVEL_WARNING);
    assert_heard(&listening, "");
}

static void test_a_step_that_the_table_lacks_ends_the_program(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (child == 0) {
        close(STDERR_FILENO);
        state_change(door_states, DOOR_OPEN, DOOR_LOCKED, "door");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_is_logged_with_its_owner),
        cmocka_unit_test(test_a_step_is_silent_above_the_debug_level),
        cmocka_unit_test(test_a_step_that_the_table_lacks_ends_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
