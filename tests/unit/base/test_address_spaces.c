#include "base/address_spaces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 16 * 1024 };

static _Noreturn int stay(void *nothing)
{
    (void)nothing;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

/* Another process; one at a time can share our memory, and is at work on its stack while another is
 * begun. FLAGS are of clone(2). */
static pid_t begin_another(int flags)
{
    static char of_sharing[STACK_BYTES];
    static char of_copied[STACK_BYTES];
    char *stack = flags & CLONE_VM ? of_sharing : of_copied;
    const pid_t pid = clone(stay, stack + STACK_BYTES, flags | SIGCHLD, NULL);

    assert_true(pid > 0);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_each_address_space_is_added_once(void **state)
{
    struct address_spaces spaces = {.count = 0};
    const pid_t sharing = begin_another(CLONE_VM);
    const pid_t copied = begin_another(0);

    (void)state;
    if (!address_spaces_can_compare())
        skip();
    assert_true(address_spaces_add(&spaces, getpid()));
    assert_false(address_spaces_add(&spaces, getpid()));
    assert_false(address_spaces_add(&spaces, sharing));
    assert_true(address_spaces_add(&spaces, copied));
    assert_false(address_spaces_add(&spaces, copied));
    end(sharing);
    end(copied);
}

static void test_a_full_set_finds_what_it_has(void **state)
{
    struct address_spaces spaces = {.count = ADDRESS_SPACES_MOST};
    const pid_t copied = begin_another(0);

    (void)state;
    spaces.threads[0] = getpid();
    assert_int_equal(address_spaces_add(&spaces, getpid()), !address_spaces_can_compare());
    assert_true(address_spaces_add(&spaces, copied));
    assert_true(address_spaces_add(&spaces, copied));
    end(copied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_address_space_is_added_once),
        cmocka_unit_test(test_a_full_set_finds_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
