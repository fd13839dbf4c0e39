#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/cgroup_leaf.h"
#include "environments/process/cgroup_tree.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SMALL_BYTES = 64 * 1024 * 1024, LARGE_BYTES = 512 * 1024 * 1024 };

static int make_tree(void **state)
{
    *state = cgroup_tree_new();
    return 0;
}

static int free_tree(void **state)
{
    cgroup_tree_free(*state);
    return 0;
}

static struct cgroup_leaf *make_leaf(struct cgroup_tree *tree)
{
    struct error err = ERROR_INIT;
    struct cgroup_leaf *leaf;

    if (cgroup_tree_is_empty(tree))
        skip();
    leaf = cgroup_leaf_new(tree, &err);
    if (!leaf)
        fail_msg("%s", err.message);
    return leaf;
}

static void limit_leaf(struct cgroup_leaf *leaf, uint64_t memory, unsigned tasks)
{
    struct error err = ERROR_INIT;

    if (cgroup_leaf_limit(leaf, memory, tasks, &err) < 0)
        fail_msg("%s", err.message);
}

static void test_a_leaf_that_has_rested_takes_any_limit(void **state)
{
    struct cgroup_leaf *leaf = make_leaf(*state);
    AUTO_FREE char *directory = memory_copy_string(cgroup_leaf_directories(leaf)[0]);

    limit_leaf(leaf, SMALL_BYTES, 10);
    cgroup_leaf_rest(leaf);
    leaf = make_leaf(*state);
    assert_string_equal(cgroup_leaf_directories(leaf)[0], directory);
    limit_leaf(leaf, LARGE_BYTES, 100);
    limit_leaf(leaf, SMALL_BYTES, 10);
    cgroup_leaf_rest(leaf);
    assert_int_equal(access(directory, F_OK), 0);
    cgroup_leaf_retire(*state, 0);
    assert_int_equal(access(directory, F_OK), -1);
}

/* A process in LEAF that waits for its end. */
static pid_t enter_leaf(const struct cgroup_leaf *leaf)
{
    int procs[8];
    size_t count = cgroup_leaf_procs(leaf, procs, ARRAY_SIZE(procs));
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_true(pid > 0);
    for (size_t i = 0; i < count; i++)
        assert_true(dprintf(procs[i], "%ld", (long)pid) > 0);
    return pid;
}

static void test_a_leaf_with_a_process_is_given_to_nobody(void **state)
{
    struct cgroup_leaf *leaf = make_leaf(*state);
    AUTO_FREE char *directory = memory_copy_string(cgroup_leaf_directories(leaf)[0]);
    pid_t pid = enter_leaf(leaf);

    cgroup_leaf_rest(leaf);
    leaf = make_leaf(*state);
    assert_string_not_equal(cgroup_leaf_directories(leaf)[0], directory);
    cgroup_leaf_free(leaf);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    while (!cgroup_tree_finish(*state))
        usleep(1000);
    assert_int_equal(access(directory, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_leaf_that_has_rested_takes_any_limit, make_tree,
                                        free_tree),
        cmocka_unit_test_setup_teardown(test_a_leaf_with_a_process_is_given_to_nobody, make_tree,
                                        free_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
