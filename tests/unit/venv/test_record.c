#include "environments/venv/record.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static char version[] = "3.11.2";
static char executable[] = "/usr/bin/python3";
static const struct venv_record made = {.version = version, .executable = executable};

static int set_up(void **state)
{
    *state = scratch_new();
    return 0;
}

static int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

static void assert_reads_back(const char *venv)
{
    struct venv_record record;

    assert_true(venv_record_read(&record, venv));
    assert_string_equal(record.version, version);
    assert_string_equal(record.executable, executable);
    venv_record_deinit(&record);
}

static void test_what_is_written_is_read_back(void **state)
{
    struct error err = ERROR_INIT;

    assert_int_equal(venv_record_write(&made, *state, &err), 0);
    assert_reads_back(*state);
    assert_int_equal(count_entries(*state), 1);
}

/* Scripts of the environment can write in it. */
static void test_what_is_no_file_is_no_record(void **state)
{
    AUTO_FREE char *path = memory_format("%s/pyexecd.json", (char *)*state);
    AUTO_FREE char *target = memory_format("%s/target", (char *)*state);
    struct error err = ERROR_INIT;

    assert_int_equal(venv_record_write(&made, *state, &err), 0);
    assert_int_equal(rename(path, target), 0);
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        const char *name = impostor_put(i, path, target);
        struct venv_record record;

        if (venv_record_read(&record, *state))
            fail_msg("%s was taken for a record", name);
        impostor_remove(path);
    }
}

static void test_a_record_takes_the_place_of_what_is_no_file(void **state)
{
    struct error err = ERROR_INIT;

    shell(*state, "mkfifo pyexecd.json; echo kept >target; ln -s target pyexecd.json.next");
    assert_int_equal(venv_record_write(&made, *state, &err), 0);
    assert_reads_back(*state);
    shell(*state, "test \"$(cat target)\" = kept");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(test_##NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read_back),
        TEST(what_is_no_file_is_no_record),
        TEST(a_record_takes_the_place_of_what_is_no_file),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
