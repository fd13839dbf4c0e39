#include "base/python_helpers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Python gives these words to itself; the shell takes them for arguments. */
#define CALLED(...)                                                                                \
    {                                                                                              \
        "sh", "-c", "read line; :", "python3", __VA_ARGS__, NULL                                   \
    }

enum { WORDS = 10 };

/* Starts a child with the command line WORDS, which waits for a line on a pipe that ends with us.
 */
static pid_t start(const char *const *words)
{
    int input[2];
    int started[2];
    char mark;
    pid_t pid;

    assert_int_equal(pipe2(input, 0), 0);
    assert_int_equal(pipe2(started, 0), 0);
    pid = fork();
    if (pid == 0) {
        dup2(input[0], STDIN_FILENO);
        close(input[1]);
        (void)!write(started[1], "", 1);
        execv("/bin/sh", (char *const *)words);
        _exit(1);
    }
    close(input[0]);
    assert_int_equal(read(started[0], &mark, 1), 1);
    close(started[0]);
    close(started[1]);
    return pid;
}

/* A child is a copy of us until it has executed its program. */
static void wait_for_exec(pid_t pid)
{
    char path[64];
    char first[2] = "";

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    while (first[0] != 's' || first[1] != 'h') {
        FILE *file = fopen(path, "r");

        assert_non_null(file);
        (void)!fread(first, 1, sizeof first, file);
        fclose(file);
        usleep(1000);
    }
}

static void test_helpers_are_known_by_the_code_that_python_gives_them(void **state)
{
    static const struct {
        const char *words[WORDS];
        bool is_helper;
    } cases[] = {
        {CALLED("-c", "from multiprocessing.resource_tracker import main;main(3)"), true},
        {CALLED("-s", "-c", "from multiprocessing.forkserver import main; main(4, 5)"), true},
        {CALLED("-c", "from joblib.externals.loky.backend.resource_tracker import main; main(9)"),
         true},
        {CALLED("-c", "from multiprocessing.spawn import spawn_main; spawn_main(fd=5)"), false},
        {CALLED("from multiprocessing.resource_tracker import main;main(3)"), false},
        {CALLED("-c", "print('from multiprocessing.resource_tracker import main;')"), false},
        {CALLED("server.py"), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pid_t pid = start(cases[i].words);
        struct python_helpers helpers;

        wait_for_exec(pid);
        python_helpers_find(&helpers);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(python_helpers_have(&helpers, pid), cases[i].is_helper);
        assert_false(python_helpers_have(&helpers, getpid()));
    }
}

static void test_only_so_many_are_known(void **state)
{
    static const char *const words[] =
        CALLED("-c", "from multiprocessing.resource_tracker import main;main(3)");
    pid_t pids[PYTHON_HELPERS_MOST + 2];
    struct python_helpers helpers;

    (void)state;
    for (int i = 0; i < PYTHON_HELPERS_MOST + 2; i++) {
        pids[i] = start(words);
        wait_for_exec(pids[i]);
    }
    python_helpers_find(&helpers);
    assert_int_equal(helpers.count, PYTHON_HELPERS_MOST);
    for (int i = 0; i < PYTHON_HELPERS_MOST + 2; i++) {
        kill(pids[i], SIGKILL);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_helpers_are_known_by_the_code_that_python_gives_them),
        cmocka_unit_test(test_only_so_many_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
