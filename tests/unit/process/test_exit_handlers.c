#include "environments/process/core/exit_handlers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FREED = 1, FLUSHED = 2 };

static int done;

void OPENSSL_cleanup(void);
void flush_files(void);

/* Found by its name, as a library's is. */
__attribute__((visibility("default"))) void OPENSSL_cleanup(void)
{
    done |= FREED;
}

__attribute__((visibility("default"))) void flush_files(void)
{
    done |= FLUSHED;
}

static void tell(void)
{
    _exit(done);
}

/* What a process has done when it has ended. */
static int done_at_the_end(bool is_spared)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        (void)atexit(tell); /* the first comes last */
        exit_handlers_spare(is_spared);
        (void)atexit(OPENSSL_cleanup);
        (void)atexit(flush_files);
        exit_handlers_spare(false);
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_what_openssl_frees_is_spared(void **state)
{
    (void)state;
    assert_int_equal(done_at_the_end(true), FLUSHED);
}

static void test_otherwise_all_is_done(void **state)
{
    (void)state;
    assert_int_equal(done_at_the_end(false), FREED | FLUSHED);
}

/* The loader has a lock. A thread of the script's that waits for it may have what another, that has
 * it, waits for. */
static void test_the_loader_is_not_asked(void **state)
{
    (void)state;
    (void)atexit(flush_files); /* after the first */
    assert_null(dlopen("/no/such/library", RTLD_NOW));
    (void)atexit(flush_files);
    assert_non_null(dlerror());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_openssl_frees_is_spared),
        cmocka_unit_test(test_otherwise_all_is_done),
        cmocka_unit_test(test_the_loader_is_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
