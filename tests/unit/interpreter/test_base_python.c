/* A real Python asked what venvs from it need, and venvs made from that. */
#include "environments/interpreter/base_python.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/interpreter/interpreter.h"
#include "environments/process/subprocess.h"
#include "environments/venv/layout.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/environments/workbench.h"

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

#define REAL "/usr/bin/python3"

struct asking {
    struct interpreter interpreter;
    bool is_done;
    char *output;
    struct error err;
};

static void on_found(struct interpreter *interpreter, const struct error *err)
{
    struct asking *asking = CONTAINER_OF(interpreter, struct asking, interpreter);

    assert_null(err);
    asking->is_done = true;
}

static void on_ended(void *data, const char *output, const struct error *err)
{
    struct asking *asking = data;

    asking->is_done = true;
    asking->output = memory_copy_string(output);
    if (err)
        error_copy(&asking->err, err);
}

static struct base_python *ask(struct workbench *bench, const char *path)
{
    AUTO_FREE char *scratch = memory_format("%s/asking", bench->scratch);
    struct asking asking = {0};
    struct base_python *base;
    struct error err = ERROR_INIT;

    interpreter_init(&asking.interpreter, bench->loop, bench->host, path);
    asking.interpreter.done = on_found;
    assert_int_equal(interpreter_resolve(&asking.interpreter, &err), OUTCOME_PENDING);
    workbench_wait(bench, &asking.is_done);
    shell(bench->scratch, "rm -rf asking; mkdir asking");
    asking.is_done = false;
    assert_non_null(base_python_ask(&asking.interpreter, scratch, &asking, on_ended, &err));
    workbench_wait(bench, &asking.is_done);
    if (asking.err.code != ERROR_NONE)
        fail_msg("%s", asking.err.message);
    base = base_python_keep(bench->scratch, &asking.interpreter, asking.output, scratch, &err);
    if (!base)
        fail_msg("%s", err.message);
    free(asking.output);
    interpreter_deinit(&asking.interpreter);
    return base;
}

static void test_what_was_asked_is_known_afterwards(void **state)
{
    struct workbench *bench = *state;
    struct base_python *asked = ask(bench, REAL);
    struct base_python *known = base_python_load(bench->scratch, REAL);

    assert_non_null(known);
    assert_string_equal(known->executable, asked->executable);
    assert_string_equal(known->version, asked->version);
    assert_string_equal(known->packages, asked->packages);
    assert_string_equal(known->folder, asked->folder);
    assert_null(base_python_load(bench->scratch, "/usr/bin/python4"));
    base_python_free(asked);
    base_python_free(known);
}

static void test_it_is_not_known_when_the_file_is_another(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *path = workbench_program(bench, "python3", "#!/bin/sh\nexec " REAL " \"$@\"\n");
    struct base_python *known;

    base_python_free(ask(bench, path));
    known = base_python_load(bench->scratch, path);
    assert_non_null(known);
    assert_string_equal(known->executable, REAL);
    base_python_free(known);
    write_text(path, "#!/bin/sh\n# another\nexec " REAL " \"$@\"\n");
    assert_null(base_python_load(bench->scratch, path));
    base_python_free(ask(bench, path)); /* in the place of what was known */
    known = base_python_load(bench->scratch, path);
    assert_non_null(known);
    base_python_free(known);
}

static void test_a_file_that_was_tampered_with_is_no_account(void **state)
{
    static const char *const texts[] = {"", "{}", "[1]", "{\"format\": 1, \"executable\": \"x\"}"};
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *facts = memory_format("%s/facts.json", base->folder);

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        write_text(facts, texts[i]);
        assert_null(base_python_load(bench->scratch, REAL));
    }
    base_python_free(base);
}

static void test_what_is_no_file_is_no_account(void **state)
{
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *facts = memory_format("%s/facts.json", base->folder);
    AUTO_FREE char *target = memory_format("%s/kept.json", base->folder);

    assert_int_equal(rename(facts, target), 0);
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        impostor_put(i, facts, target);
        assert_null(base_python_load(bench->scratch, REAL));
        impostor_remove(facts);
    }
    base_python_free(base);
}

static void test_nonsense_is_no_answer(void **state)
{
    static const char *const outputs[] = {
        "",
        "no JSON",
        "[]",
        "{\"executable\": \"relative\", \"version\": \"3\", \"packages\": \"lib\"}",
        "{\"executable\": \"/x\", \"version\": \"3\", \"packages\": \"/lib\"}",
        "{\"executable\": \"/x\", \"version\": \"3\", \"packages\": \"lib/../../..\"}"};
    struct workbench *bench = *state;
    struct interpreter interpreter = {.candidate = (char *)"/x", .executable = (char *)"/x"};

    for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
        struct error err = ERROR_INIT;

        assert_null(
            base_python_keep(bench->scratch, &interpreter, outputs[i], bench->scratch, &err));
        assert_string_equal(err.message, "/x gave no valid description of itself");
    }
}

/* What CODE prints in the venv, without the newline. Owned by the caller. */
static char *run_in(struct workbench *bench, const char *venv, const char *code)
{
    AUTO_FREE char *command = memory_format("%s/bin/python3 -c \"%s\" >out", venv, code);
    AUTO_FREE char *out = memory_format("%s/out", bench->scratch);
    char *text;

    shell(bench->scratch, command);
    text = read_text(out);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static void test_a_venv_is_one_and_is_moved_to_its_place(void **state)
{
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *written = memory_format("%s/aside", bench->scratch);
    AUTO_FREE char *plain = memory_format("%s/place", bench->scratch);
    AUTO_FREE char *prefix = NULL;
    AUTO_FREE char *seen = NULL;
    struct venv_layout layout = {.base = base, .written = written, .path = plain};
    struct error err = ERROR_INIT;

    assert_int_equal(venv_layout_write(&layout, &err), 0);
    assert_int_equal(rename(written, plain), 0);
    prefix = run_in(bench, plain, "import sys; print(sys.prefix)");
    assert_string_equal(prefix, plain);
    seen = run_in(bench, plain, "import sys; print(sum('dist-packages' in p for p in sys.path))");
    assert_string_equal(seen, "0");
    base_python_free(base);
}

/* The pip of a venv could have been changed, and is not executed where that of new venvs is laid
 * out. */
static void test_only_the_system_is_believed_which_index_is_the_default(void **state)
{
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *venv = memory_format("%s/venv", bench->scratch);
    AUTO_FREE char *python = memory_format("%s/bin/python", venv);
    AUTO_FREE char *told = memory_format("%s/told", bench->scratch);
    struct venv_layout layout = {.base = base, .written = venv, .path = venv};
    struct base_python *planted;
    struct error err = ERROR_INIT;

    if (base->pip)
        assert_non_null(strstr(base->index, "https://"));
    assert_int_equal(venv_layout_write(&layout, &err), 0);
    shell(bench->scratch, "for f in venv/lib/python3*/site-packages/pip/__init__.py; do"
                          "  echo \"open('$PWD/told', 'w')\" >$f; done;"
                          "for d in venv/lib/python3*/site-packages; do"
                          "  echo \"import pip\" >$d/pip.pth; done");
    planted = ask(bench, python);
    assert_int_equal(access(told, F_OK), -1);
    assert_null(planted->index);
    base_python_free(planted);
    planted = base_python_load(bench->scratch, python);
    assert_non_null(planted);
    assert_null(planted->index);
    if (base->index)
        assert_string_equal(planted->claimed_index, base->index);
    base_python_free(planted);
    base_python_free(base);
}

static void test_a_venv_sees_the_systems_packages_when_it_shall(void **state)
{
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *venv = memory_format("%s/venv", bench->scratch);
    AUTO_FREE char *seen = NULL;
    struct venv_layout layout = {
        .base = base, .written = venv, .path = venv, .system_site_packages = true};
    struct error err = ERROR_INIT;

    assert_int_equal(venv_layout_write(&layout, &err), 0);
    seen = run_in(bench, venv, "import site; print(site.ENABLE_USER_SITE)");
    assert_string_equal(seen, "True");
    base_python_free(base);
}

static void test_activation_works_in_any_place(void **state)
{
    static const char name[] = "it's a $(place)";
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *venv = memory_format("%s/%s", bench->scratch, name);
    AUTO_FREE char *out = memory_format("%s/out", bench->scratch);
    AUTO_FREE char *text = NULL;
    struct venv_layout layout = {.base = base, .written = venv, .path = venv};
    struct error err = ERROR_INIT;

    assert_int_equal(venv_layout_write(&layout, &err), 0);
    shell(bench->scratch,
          "set -eu; PATH=/usr/bin:/bin; cd \"it's a \\$(place)\"; . bin/activate; cd ..;"
          "test \"$VIRTUAL_ENV\" = \"$PWD/it's a \\$(place)\";"
          "test \"$(command -v python)\" = \"$VIRTUAL_ENV/bin/python\"; . "
          "\"$VIRTUAL_ENV/bin/activate\";"
          "deactivate; test \"$PATH:${VIRTUAL_ENV-}\" = /usr/bin:/bin: && echo good >out");
    text = read_text(out);
    assert_string_equal(text, "good\n");
    base_python_free(base);
}

static void test_what_is_in_the_way_is_an_error(void **state)
{
    struct workbench *bench = *state;
    struct base_python *base = ask(bench, REAL);
    AUTO_FREE char *venv = memory_format("%s/venv", bench->scratch);
    struct venv_layout layout = {.base = base, .written = venv, .path = venv};
    struct error err = ERROR_INIT;

    shell(bench->scratch, "mkdir -p venv/bin; touch venv/bin/python");
    assert_int_equal(venv_layout_write(&layout, &err), -1);
    assert_non_null(strstr(err.message, "File exists"));
    base_python_free(base);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, workbench_setup, workbench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_was_asked_is_known_afterwards),
        TEST(test_it_is_not_known_when_the_file_is_another),
        TEST(test_a_file_that_was_tampered_with_is_no_account),
        TEST(test_what_is_no_file_is_no_account),
        TEST(test_nonsense_is_no_answer),
        TEST(test_a_venv_is_one_and_is_moved_to_its_place),
        TEST(test_only_the_system_is_believed_which_index_is_the_default),
        TEST(test_a_venv_sees_the_systems_packages_when_it_shall),
        TEST(test_activation_works_in_any_place),
        TEST(test_what_is_in_the_way_is_an_error),
    };

    setenv("PATH", "/usr/bin:/bin", 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
