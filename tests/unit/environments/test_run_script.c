/* Everybody runs his own code, whatever the others in the directory do to script.py; at each level
 * of containment that exists here. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/executor.h"
#include "tests/unit/environments/fixture.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SHARING = 50 };

/* Looks at its own source in every way there is, early and late. */
static char *self_aware_code(int number)
{
    return memory_format("import linecache, time, traceback\n"
                         "token = 'token-%d-'\n"
                         "def look():\n"
                         "    assert token in open(__file__).read(), 'file'\n"
                         "    assert token in open('script.py').read(), 'relative'\n"
                         "    linecache.clearcache()\n"
                         "    try:\n"
                         "        raise ValueError('token-%d-')\n"
                         "    except ValueError:\n"
                         "        text = traceback.format_exc()\n"
                         "    assert \"raise ValueError('token-%d-')\" in text, text\n"
                         "look()\n"
                         "time.sleep(%d / 1000)\n"
                         "look()\n"
                         "print(token, end='')\n",
                         number, number, number, number % 7 * 50);
}

static void assert_everybody_ran_his_own(struct fixture *fixture, int count)
{
    struct call calls[SHARING];

    for (int i = 0; i < count; i++) {
        AUTO_FREE char *code = self_aware_code(i);

        call_submit(&calls[i], fixture, code);
    }
    calls_wait(calls, (size_t)count);
    for (int i = 0; i < count; i++) {
        AUTO_FREE char *expected = memory_format("token-%d-", i);

        assert_string_equal(calls[i].error.message, "");
        assert_string_equal(calls[i].err, "");
        assert_string_equal(calls[i].out, expected);
    }
    AUTO_FREE char *newest = memory_format("token = 'token-%d-'", count - 1);
    AUTO_FREE char *text = read_text(calls[0].script);

    assert_non_null(strstr(text, newest));
    calls_deinit(calls, (size_t)count);
}

static void test_fifty_overlapping_runs_in_one_directory_see_their_own_code(void **state)
{
    struct fixture *fixture =
        fixture_new(&(struct fixture_settings){.concurrent_runs = 16, .has_path = true});

    (void)state;
    assert_everybody_ran_his_own(fixture, SHARING);
    fixture_free(fixture);
}

static void test_without_namespaces_runs_in_one_directory_take_turns(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){
        .without = LAYERS_OF_TREES, .concurrent_runs = 16, .has_path = true});

    (void)state;
    assert_everybody_ran_his_own(fixture, 8);
    fixture_free(fixture);
}

/* Two servers, one configured directory: neither knows of the other's runs. */
static void test_servers_that_share_a_directory_run_their_own_code(void **state)
{
    struct fixture *one = fixture_new(&(struct fixture_settings){.has_path = true});
    struct working_directory *here = fixture_directory(one);
    struct fixture *two = fixture_new(
        &(struct fixture_settings){.path = working_directory_path(here), .loop = one->loop});
    struct call calls[20];

    (void)state;
    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *code = self_aware_code(i);

        call_submit(&calls[i], i % 2 ? one : two, code);
    }
    calls_wait(calls, 20);
    for (int i = 0; i < 20; i++)
        assert_string_equal(calls[i].err, "");
    calls_deinit(calls, 20);
    fixture_free(two);
    fixture_free(one);
}

/* Each run spoils script.py for all others, as far as it can. */
static void check_spoilers(unsigned without)
{
    static const char *const spoilers[] = {
        "import os\nos.remove('script.py')\nos.symlink('/etc/passwd', 'script.py')\n",
        "import os\nos.remove('script.py')\nos.mkdir('script.py')\nopen('script.py/x', 'w')\n",
        "import os\nos.remove('script.py')\nos.mkfifo('script.py')\n",
        "open('script.py', 'w').write('print(666)')\n",
        "import os, shutil\nshutil.rmtree(os.getcwd(), True)\n",
        "import os\nfor i in range(2000):\n    os.mkdir('d')\n    os.chdir('d')\n",
        "import os\nos.mkfifo('pipe')\nos.mkdir('shut', 0)\nopen('a\\nb', 'w')\nos.chmod('.', 0)",
    };
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.without = without});

    for (size_t i = 0; i < ARRAY_SIZE(spoilers); i++) {
        struct call calls[2];

        call_execute(&calls[0], fixture, spoilers[i]);
        call_execute(&calls[1], fixture, "print(open(__file__).read(), end='')\n");
        assert_string_equal(calls[1].out, "print(open(__file__).read(), end='')\n");
        calls_deinit(calls, 2);
    }
    fixture_free(fixture);
}

static void test_a_script_that_replaces_script_py_harms_nobody_after_it(void **state)
{
    (void)state;
    check_spoilers(0);
    check_spoilers(LAYER_PID_NAMESPACE);
}

/* Never stops to put other code where script.py is. */
static const char replacer[] = "import os, itertools\n"
                               "def attempt(act, *arguments):\n"
                               "    try:\n"
                               "        act(*arguments)\n"
                               "    except OSError:\n"
                               "        pass\n"
                               "print('ready', flush=True)\n"
                               "for i in itertools.count():\n"
                               "    with open('planted', 'w') as file:\n"
                               "        file.write('print(666)')\n"
                               "    attempt(os.rename, 'planted', 'script.py')\n"
                               "    attempt(os.link, 'planted', 'script.py')\n"
                               "    attempt(os.rename, 'script.py', 'old%d.py' % (i % 8))\n"
                               "    attempt(os.remove, 'script.py')\n"
                               "    attempt(os.symlink, 'planted', 'script.py')\n";

enum { REPLACED_RUNS = 100 };

static void test_a_script_that_keeps_replacing_script_py_never_has_its_code_run(void **state)
{
    struct fixture *fixture = fixture_new(&(struct fixture_settings){.concurrent_runs = 4});
    struct call attackers[2];
    unsigned wrong = 0;

    (void)state;
    for (int i = 0; i < 2; i++)
        call_submit(&attackers[i], fixture, replacer);
    while (attackers[0].outputs == 0 || attackers[1].outputs == 0)
        fixture_run_for(fixture, 0.01);
    for (int i = 0; i < REPLACED_RUNS; i++) {
        AUTO_FREE char *code = memory_format("print(%d)", i);
        AUTO_FREE char *expected = memory_format("%d\n", i);
        struct call call;

        call_execute(&call, fixture, code);
        wrong += strcmp(call.out, expected) != 0;
        calls_deinit(&call, 1);
    }
    assert_int_equal(wrong, 0);
    for (int i = 0; i < 2; i++)
        run_cancel(attackers[i].run);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fifty_overlapping_runs_in_one_directory_see_their_own_code),
        cmocka_unit_test(test_without_namespaces_runs_in_one_directory_take_turns),
        cmocka_unit_test(test_servers_that_share_a_directory_run_their_own_code),
        cmocka_unit_test(test_a_script_that_replaces_script_py_harms_nobody_after_it),
        cmocka_unit_test(test_a_script_that_keeps_replacing_script_py_never_has_its_code_run),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
