/* The first lines of programs in a venv: for short paths, long ones and ones with blanks. */
#include "environments/venv/scripts.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"
#define TEN    "abcdefghij"
#define LONG   TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const char *const folders[] = {"short", "with blank", LONG};

static void test_a_program_runs_wherever_its_interpreter_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        char *scratch = scratch_new();
        AUTO_FREE char *folder = memory_format("%s/%s", scratch, folders[i]);
        AUTO_FREE char *interpreter = memory_format("%s/python", folder);
        AUTO_FREE char *program = memory_format("%s/program", scratch);
        struct error err = ERROR_INIT;

        assert_int_equal(mkdir(folder, 0755), 0);
        assert_int_equal(symlink(PYTHON, interpreter), 0);
        assert_int_equal(venv_script_write(program, interpreter,
                                           "import sys\nopen(sys.argv[1], 'w').write('ran')\n",
                                           &err),
                         0);
        shell(scratch, "./program out");
        {
            AUTO_FREE char *out = memory_format("%s/out", scratch);
            AUTO_FREE char *text = read_text(out);

            assert_string_equal(text, "ran");
        }
        scratch_free(scratch);
    }
}

static const struct {
    const char *before;
    const char *after;
} moves[] = {
    {"#!/old/bin/python\nimport x\n", "#!/the/new/bin/python\nimport x\n"},
    {"#!/old/bin/python -I\n/old/bin/python", "#!/the/new/bin/python\n/old/bin/python"},
    {"#!/bin/sh\n'''exec' \"/old/bin/python\" \"$0\" \"$@\"\n' '''\nimport x\n",
     "#!/the/new/bin/python\nimport x\n"},
    {"#!/bin/sh\n'''exec' \"/old/bin/python\" \"$0\"\n", NULL},
    {"#!/bin/sh\n'''exec' \"/usr/bin/python\" \"$0\"\n' '''\n", NULL},
    {"#!/old/bin/python3\n", NULL},
    {"#!/old/bin/python", "#!/the/new/bin/python\n"},
    {"#!/usr/bin/python\n", NULL},
    {"#!", NULL},
    {"/old/bin/python without a first line\n", NULL},
    {"", NULL},
};

/* One program in each step. Returns how many steps that took. */
static unsigned go_through(struct venv_scripts *scripts)
{
    struct error err = ERROR_INIT;
    unsigned steps = 1;

    while (venv_scripts_step(scripts, 1, &err) == OUTCOME_PENDING)
        steps++;
    assert_int_equal(err.code, ERROR_NONE);
    venv_scripts_end(scripts);
    venv_scripts_end(scripts);
    return steps;
}

static void move_all(const char *bin, const char *from, const char *to)
{
    struct venv_scripts scripts;
    struct error err = ERROR_INIT;

    assert_int_equal(venv_scripts_move(&scripts, bin, from, to, &err), 0);
    go_through(&scripts);
}

static unsigned adopt_all(const char *source, const char *bin)
{
    struct venv_scripts scripts;
    struct error err = ERROR_INIT;

    assert_int_equal(venv_scripts_adopt(&scripts, source, bin, "3.11", "/the/new/python", &err), 0);
    return go_through(&scripts);
}

static void test_what_was_made_elsewhere_is_moved(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
        char *scratch = scratch_new();
        AUTO_FREE char *path = memory_format("%s/program", scratch);
        AUTO_FREE char *text = NULL;
        struct stat status;

        write_text(path, moves[i].before);
        chmod(path, 0751);
        move_all(scratch, "/old/bin/python", "/the/new/bin/python");
        text = read_text(path);
        assert_string_equal(text, moves[i].after ? moves[i].after : moves[i].before);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0751);
        assert_int_equal(count_entries(scratch), 1);
        scratch_free(scratch);
    }
}

static void test_links_and_large_files_are_left(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *outside = memory_format("%s/outside", scratch);
    AUTO_FREE char *bin = memory_format("%s/bin", scratch);
    AUTO_FREE char *text = NULL;

    (void)state;
    write_text(outside, "#!/old/place/bin/python\n");
    shell(scratch, "mkdir bin bin/folder; ln -s ../outside bin/link; mkfifo bin/fifo;"
                   "{ echo '#!/old/place/bin/python'; head -c 2000000 /dev/zero; } >bin/large");
    move_all(bin, "/old/place/bin/python", "/new");
    text = read_text(outside);
    assert_string_equal(text, "#!/old/place/bin/python\n");
    scratch_free(scratch);
}

static void test_programs_of_another_venv_are_copied_for_this_interpreter(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *source = memory_format("%s/venv/bin", scratch);
    AUTO_FREE char *bin = memory_format("%s/bin", scratch);
    AUTO_FREE char *nowhere = memory_format("%s/nowhere", scratch);

    (void)state;
    shell(scratch, "mkdir -p venv/bin bin; cd venv/bin; ln -s " PYTHON " python;"
                   "for each in one own; do printf '#!%s/python3\\nimport x\\n' $PWD >$each; done;"
                   "printf '#!%s/python3.11\\n' $PWD >two; printf '#!/bin/sh\\n' >other;"
                   "chmod 755 *; ln -s one link; echo kept >../../bin/own");
    assert_true(adopt_all(source, bin) > 5); /* one for each program */
    assert_int_equal(adopt_all(nowhere, bin), 1);
    shell(bin, "test \"$(ls)\" = \"$(printf 'one\\nown\\ntwo')\" && test -x one &&"
               "test \"$(cat own)\" = kept && test \"$(head -1 one)\" = '#!/the/new/python' &&"
               "grep -q '^import x' one && test \"$(cat two)\" = '#!/the/new/python'");
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_runs_wherever_its_interpreter_is),
        cmocka_unit_test(test_what_was_made_elsewhere_is_moved),
        cmocka_unit_test(test_links_and_large_files_are_left),
        cmocka_unit_test(test_programs_of_another_venv_are_copied_for_this_interpreter),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
