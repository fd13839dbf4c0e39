#include "environments/process/cpu_share.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

/* Makes cgroups by COMMAND in a scratch directory and reads the quota of a/b. */
static double quota_after(const char *command)
{
    char *scratch = scratch_new();
    AUTO_FREE char *own = memory_format("%s/a/b", scratch);
    double quota;

    shell(scratch, "mkdir -p a/b && touch cgroup.procs a/cgroup.procs a/b/cgroup.procs");
    shell(scratch, command);
    quota = cpu_share_quota(own);
    scratch_free(scratch);
    return quota;
}

static void the_least_quota_of_all_above_counts(void **state)
{
    (void)state;
    assert_float_equal(quota_after("echo max 100000 >a/b/cpu.max"), 0, 0);
    assert_float_equal(quota_after("echo 150000 100000 >a/b/cpu.max"), 1.5, 1e-9);
    assert_float_equal(
        quota_after("echo 400000 100000 >a/b/cpu.max; echo 200000 100000 >a/cpu.max"), 2, 1e-9);
    assert_float_equal(quota_after("echo max 100000 >a/b/cpu.max; echo 300000 100000 >cpu.max"), 3,
                       1e-9);
}

static void the_older_files_say_the_same(void **state)
{
    (void)state;
    assert_float_equal(quota_after("echo -1 >a/b/cpu.cfs_quota_us; echo 1 >a/b/cpu.cfs_period_us"),
                       0, 0);
    assert_float_equal(
        quota_after("echo 50000 >a/cpu.cfs_quota_us; echo 100000 >a/cpu.cfs_period_us"), 0.5, 1e-9);
}

static void what_is_no_number_is_no_quota(void **state)
{
    (void)state;
    assert_float_equal(quota_after("echo x y >a/b/cpu.max"), 0, 0);
    assert_float_equal(quota_after("echo 1 0 >a/b/cpu.max"), 0, 0);
    assert_float_equal(quota_after("rm a/b/cgroup.procs; echo 100000 100000 >a/b/cpu.max"), 0, 0);
}

static void there_is_a_part_of_a_cpu_at_least(void **state)
{
    double share = cpu_share();

    (void)state;
    assert_true(share > 0);
    assert_true(share <= (double)sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_quota_of_all_above_counts),
        cmocka_unit_test(the_older_files_say_the_same),
        cmocka_unit_test(what_is_no_number_is_no_quota),
        cmocka_unit_test(there_is_a_part_of_a_cpu_at_least),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
