/* Runs of real scripts in the system's Python, at each level of containment that exists here. */
#include "environments/executor.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "fixture.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>

static void test_a_script_runs_and_everything_is_reported(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){0});
    struct working_directory *directory = fixture_directory(fixture);
    struct call call;

    (void)state;
    call_execute(&call, fixture, directory,
                 "import sys, os\n"
                 "print('hello', __name__, sys.argv[0] == __file__, os.getcwd())\n"
                 "print('oops', file=sys.stderr)\n"
                 "open('new.csv', 'w').write('a,b')\n"
                 "sys.exit(3)\n");
    AUTO_FREE char *expected =
        memory_format("hello __main__ True %s\n", working_directory_path(directory));
    AUTO_FREE char *script = memory_format("%s/script.py", working_directory_path(directory));

    assert_int_equal(call.end, RUN_ENDED);
    assert_true(call.process.reported);
    assert_int_equal(WEXITSTATUS(call.process.wait_status), 3);
    assert_string_equal(call.out, expected);
    assert_string_equal(call.err, "oops\n");
    assert_string_equal(call.script, script);
    assert_string_equal(call.working_directory, working_directory_handle(directory));
    assert_int_equal(strncmp(call.python_version, "3.", 2), 0);
    assert_true(call.outputs >= 2);
    assert_int_equal(json_array_size(call.files), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(call.files, 0), "path")),
                        "new.csv");
    calls_deinit(&call, 1);
    working_directory_unref(directory);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_script_runs_and_everything_is_reported),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
