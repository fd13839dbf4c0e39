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

    assert_true(venv_record_read(&record, venv, NULL));
    assert_string_equal(record.version, version);
    assert_string_equal(record.executable, executable);
    venv_record_deinit(&record);
}

static void test_what_is_written_is_read_back(void **state)
{
    struct error err = ERROR_INIT;

    assert_int_equal(venv_record_write(&made, *state, NULL, &err), 0);
    assert_reads_back(*state);
    assert_int_equal(count_entries(*state), 1);
}

/* Scripts of the environment can write in it. */
static void test_what_is_no_file_is_no_record(void **state)
{
    AUTO_FREE char *path = memory_format("%s/pyexecd.json", (char *)*state);
    AUTO_FREE char *target = memory_format("%s/target", (char *)*state);
    struct error err = ERROR_INIT;

    assert_int_equal(venv_record_write(&made, *state, NULL, &err), 0);
    assert_int_equal(rename(path, target), 0);
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        const char *name = impostor_put(i, path, target);
        struct venv_record record;

        if (venv_record_read(&record, *state, NULL))
            fail_msg("%s was taken for a record", name);
        impostor_remove(path);
    }
}

static void test_a_record_takes_the_place_of_what_is_no_file(void **state)
{
    struct error err = ERROR_INIT;

    shell(*state, "mkfifo pyexecd.json; echo kept >target; ln -s target pyexecd.json.next");
    assert_int_equal(venv_record_write(&made, *state, NULL, &err), 0);
    assert_reads_back(*state);
    shell(*state, "test \"$(cat target)\" = kept");
}

/* What an installer can write says nothing where the record is kept elsewhere. */
static void test_a_kept_record_is_of_the_venv_with_its_mark(void **state)
{
    AUTO_FREE char *kept = venv_record_place(*state, "/venv");
    AUTO_FREE char *venv = memory_format("%s/venv", (char *)*state);
    struct venv_record record;
    struct error err = ERROR_INIT;

    shell(*state, "mkdir venv");
    assert_int_equal(venv_record_write(&made, venv, kept, &err), 0);
    assert_true(venv_record_read(&record, venv, kept));
    assert_string_equal(record.executable, executable);
    venv_record_deinit(&record);
    assert_false(venv_record_read(&record, venv, NULL));

    shell(*state, "mv venv/pyexecd.json own; cp venv-records/*.json venv/pyexecd.json");
    assert_true(venv_record_read(&record, venv, kept));
    venv_record_deinit(&record);
    shell(*state, "sed -i s/3.11.2/3.12.0/ venv/pyexecd.json");
    assert_true(venv_record_read(&record, venv, kept));
    assert_string_equal(record.version, version);
    venv_record_deinit(&record);

    shell(*state, "rm venv/pyexecd.json");
    assert_false(venv_record_read(&record, venv, kept));
    shell(*state, "mv own venv/pyexecd.json; rm venv-records/*.json");
    assert_false(venv_record_read(&record, venv, kept));
}

static void test_a_kept_record_is_left_over_when_its_venv_is_gone(void **state)
{
    AUTO_FREE char *venv = memory_format("%s/venv", (char *)*state);
    AUTO_FREE char *kept = venv_record_place(*state, venv);
    const struct venv_record mine = {.path = venv, .version = version, .executable = executable};
    struct venv_record record;
    struct error err = ERROR_INIT;

    assert_false(venv_record_is_left_over(kept));
    shell(*state, "mkdir venv");
    assert_int_equal(venv_record_write(&mine, venv, kept, &err), 0);
    assert_true(venv_record_read(&record, venv, kept));
    assert_string_equal(record.path, venv);
    venv_record_deinit(&record);
    assert_false(venv_record_is_left_over(kept));
    shell(*state, "mv venv other; ln -s nowhere venv");
    assert_false(venv_record_is_left_over(kept));
    shell(*state, "rm venv");
    assert_true(venv_record_is_left_over(kept));
    shell(*state, "cd venv-records; echo '{}' >$(ls)");
    assert_false(venv_record_is_left_over(kept));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(test_##NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read_back),
        TEST(what_is_no_file_is_no_record),
        TEST(a_record_takes_the_place_of_what_is_no_file),
        TEST(a_kept_record_is_of_the_venv_with_its_mark),
        TEST(a_kept_record_is_left_over_when_its_venv_is_gone),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
