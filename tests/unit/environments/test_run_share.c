/* Runs of a principal that has used up its share of the disk, or is about to. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/workplace/workplace_private.h"
#include "tests/unit/environments/fixture.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define MIB (1 << 20)

static uint64_t three_mib(int fd)
{
    (void)fd;
    return 3 * MIB;
}

/* A fixture on a disk with 3 MiB free, where somebody else has called, and whose own directory had
 * BYTES in a file "old". */
static struct fixture *fixture_on_small_disk(size_t bytes)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    const char *path = working_directory_path(fixture_directory(fixture));
    AUTO_FREE char *old = memory_format("%s/old", path);
    AUTO_FREE char *filler = memory_new(bytes + 1, 1);
    struct error err = ERROR_INIT;

    memset(filler, 'x', bytes);
    write_text(old, filler);
    fixture->workplace->free_bytes = three_mib;
    working_directory_unref(
        workplace_open(fixture->workplace, "other", ISOLATION_NONE, NULL, &err));
    return fixture;
}

static bool is_used_up(struct fixture *fixture)
{
    return working_directory_share(fixture_directory(fixture)).is_used_up;
}

static const char FILL[] = "import time\n"
                           "for i in range(4):\n"
                           "    open(f'{i}', 'wb').write(b'x' * (1 << 19))\n"
                           "time.sleep(60 if %d else 0)\n";

static void test_a_run_may_add_little_when_the_share_is_used_up(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(4 * MIB);
    AUTO_FREE char *stays = memory_format(FILL, 1);
    AUTO_FREE char *ends = memory_format(FILL, 0);
    struct call calls[4];

    (void)state;
    call_execute(&calls[0], fixture, "open('small', 'w').write('x')");
    assert_int_equal(calls[0].end, RUN_ENDED);
    call_execute(&calls[1], fixture, stays);
    assert_int_equal(calls[1].end, RUN_DISK_LIMIT);
    assert_true(calls[1].share.is_used_up);
    assert_int_equal(calls[1].share.free, 3 * MIB);
    assert_in_range(calls[1].share.taken, 5 * MIB, 7 * MIB);
    call_execute(&calls[2], fixture, ends);
    assert_int_equal(calls[2].end, RUN_ENDED); /* the same files once more */
    call_execute(&calls[3], fixture,
                 "import os\nfor i in range(4): os.remove(f'{i}')\n"
                 "os.remove('old')\n");
    assert_int_equal(calls[3].end, RUN_ENDED);
    assert_false(is_used_up(fixture));
    calls_deinit(calls, 4);
    fixture_free(fixture);
}

static void test_the_run_that_uses_up_the_share_is_not_killed_for_what_it_had_before(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(0);
    struct call call;

    (void)state;
    call_execute(&call, fixture, "open('much', 'wb').write(b'x' * (4 << 20))");
    assert_int_equal(call.end, RUN_ENDED);
    assert_true(is_used_up(fixture));
    while (!executor_is_idle(fixture->executor))
        ev_run(fixture->loop, EVRUN_ONCE);
    assert_false(ev_is_active(&fixture->workplace->survey.timer)); /* all is known */
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static void test_a_run_that_goes_on_writing_is_killed_when_the_share_is_used_up(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(0);
    struct call call;

    (void)state;
    call_execute(&call, fixture,
                 "import time\n"
                 "for i in range(300):\n"
                 "    open(f'{i}', 'wb').write(b'x' * (1 << 18))\n"
                 "    time.sleep(0.1)\n");
    assert_int_equal(call.end, RUN_DISK_LIMIT);
    assert_true(call.share.is_used_up);
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static void test_a_limit_that_is_exceeded_as_well_is_the_reason(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(4 * MIB);
    AUTO_FREE char *code = memory_format(FILL, 1);
    struct run_request request = {
        .code = code,
        .environment = fixture_environment(
            fixture, "small", "{\"type\": \"system\", \"limits\": {\"disk\": 1000000}}"),
    };
    struct call call;

    (void)state;
    call_execute_as(&call, fixture, &request);
    assert_int_equal(call.end, RUN_DISK_LIMIT);
    assert_false(call.share.is_used_up);
    calls_deinit(&call, 1);
    fixture_free(fixture);
}

static void test_a_call_brings_few_files_when_the_share_is_used_up(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(4 * MIB);
    AUTO_FREE char *large = memory_new(MIB + 2, 1);
    struct call calls[3];

    (void)state;
    memset(large, 'x', MIB + 1);
    call_execute(&calls[0], fixture, "pass"); /* from now on it is known what is there */
    for (int i = 1; i < 3; i++) {
        json_t *files = json_pack("[{s:s, s:s}]", "path", "brought", "text", large + i - 1);

        call_execute_as(&calls[i], fixture, &(struct run_request){.code = "pass", .files = files});
        json_decref(files);
    }
    assert_int_equal(calls[1].end, RUN_FAILED);
    assert_non_null(strstr(calls[1].error.message, "your working directories take "));
    assert_non_null(strstr(calls[1].error.message, "larger than the 1 MiB"));
    assert_int_equal(calls[2].end, RUN_ENDED);
    calls_deinit(calls, 3);
    fixture_free(fixture);
}

static void test_what_a_cancelled_run_has_written_counts(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(0);
    AUTO_FREE char *written =
        memory_format("%s/written", working_directory_path(fixture_directory(fixture)));
    struct call call;

    (void)state;
    call_submit(&call, fixture,
                "import time\n"
                "open('much', 'wb').write(b'x' * (4 << 20))\n"
                "open('written', 'w').close()\n"
                "time.sleep(60)\n");
    while (access(written, F_OK) < 0)
        ev_run(fixture->loop, EVRUN_ONCE);
    run_cancel(call.run);
    alarm(100);
    while (!is_used_up(fixture))
        ev_run(fixture->loop, EVRUN_ONCE);
    alarm(0);
    fixture_free(fixture);
}

static void test_what_a_run_leaves_in_a_large_directory_counts(void **state)
{
    struct fixture *fixture = fixture_on_small_disk(0);
    struct call calls[2];

    (void)state;
    call_execute(&calls[0], fixture, "for i in range(600): open(f'{i}', 'w').close()");
    call_execute(&calls[1], fixture, "open('some', 'wb').write(b'x' * (300 << 10))");
    alarm(100);
    while (working_directory_bytes(fixture_directory(fixture)) < 600 * 4096 + (300 << 10))
        ev_run(fixture->loop, EVRUN_ONCE);
    alarm(0);
    calls_deinit(calls, 2);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_may_add_little_when_the_share_is_used_up),
        cmocka_unit_test(test_the_run_that_uses_up_the_share_is_not_killed_for_what_it_had_before),
        cmocka_unit_test(test_a_run_that_goes_on_writing_is_killed_when_the_share_is_used_up),
        cmocka_unit_test(test_a_limit_that_is_exceeded_as_well_is_the_reason),
        cmocka_unit_test(test_a_call_brings_few_files_when_the_share_is_used_up),
        cmocka_unit_test(test_what_a_cancelled_run_has_written_counts),
        cmocka_unit_test(test_what_a_run_leaves_in_a_large_directory_counts),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
