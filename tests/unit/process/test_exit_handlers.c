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

enum { FREED = 1, FLUSHED = 2, DESTROYED = 4, STREAMS_DESTROYED = 8 };

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

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

/* Of objects of C++. */
static void destroy(void *object)
{
    done |= *(const int *)object;
}

static void register_destructors(void *streams)
{
    static int object = DESTROYED;
    static int stream = STREAMS_DESTROYED;

    (void)__cxa_atexit(destroy, &object, &object);
    (void)__cxa_atexit(destroy, &stream, streams);
}

static void count(void *nothing)
{
    (void)nothing;
    done++;
}

static void tell(void)
{
    _exit(done);
}

/* What a process has done when it has ended. */
static int done_at_the_end(bool is_spared)
{
    void *cpp = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        (void)atexit(tell); /* the first comes last */
        exit_handlers_spare(is_spared);
        (void)atexit(OPENSSL_cleanup);
        (void)atexit(flush_files);
        register_destructors(dlsym(cpp, "_ZSt4cout"));
        exit_handlers_spare(false);
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_destructors_and_what_openssl_frees_are_spared(void **state)
{
    (void)state;
    assert_int_equal(done_at_the_end(true), FLUSHED | STREAMS_DESTROYED);
}

static void test_otherwise_all_is_done(void **state)
{
    (void)state;
    assert_int_equal(done_at_the_end(false), FREED | FLUSHED | DESTROYED | STREAMS_DESTROYED);
}

/* What a process has done when it has ended whose library has registered NUMBER functions. */
static int counted_at_the_end(int number)
{
    static char library;
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        (void)atexit(tell);
        exit_handlers_spare(true);
        for (int i = 0; i < number; i++)
            (void)__cxa_atexit(count, NULL, &library);
        exit_handlers_spare(false);
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_more_functions_than_anybody_writes_are_spared(void **state)
{
    (void)state;
    assert_int_equal(counted_at_the_end(1), 1);
    assert_int_equal(counted_at_the_end(32), 32);
    assert_int_equal(counted_at_the_end(33), 0);
    assert_int_equal(counted_at_the_end(200), 0);
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
        cmocka_unit_test(test_destructors_and_what_openssl_frees_are_spared),
        cmocka_unit_test(test_otherwise_all_is_done),
        cmocka_unit_test(test_more_functions_than_anybody_writes_are_spared),
        cmocka_unit_test(test_the_loader_is_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
