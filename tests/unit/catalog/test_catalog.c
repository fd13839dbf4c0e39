#include "environments/catalog/catalog.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/callers/caller_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <ev.h>

static const struct environment_settings defaults = {
    .timeout = 30,
    .max_timeout = 600,
    .limits = {.memory = 512, .processes = 64, .file_size = 1000},
    .disk = 1000,
    .output = 100,
    .approval = APPROVAL_FIRST,
};

/* Only looked at: neither loop nor host is used. */
static int setup(void **state)
{
    *state = catalog_new(&(struct catalog_settings){0});
    return 0;
}

/* A venv of a call begins to sweep. */
static int setup_with_loop(void **state)
{
    *state = catalog_new(&(struct catalog_settings){.loop = EV_DEFAULT, .state = "/nonexistent"});
    return 0;
}

static int teardown(void **state)
{
    catalog_free(*state);
    return 0;
}

static int add(struct catalog *catalog, const char *name, const char *text, const char **ret_key,
               struct error *err)
{
    AUTO_JSON json_t *definition = json_loads(text, 0, NULL);

    assert_non_null(definition);
    return catalog_add(catalog, name, definition, &defaults, ret_key, err);
}

static const struct environment_settings *settings_of(struct catalog *catalog, const char *text)
{
    struct error err = ERROR_INIT;
    const char *key;

    if (add(catalog, "x", text, &key, &err) < 0)
        fail_msg("%s", err.message);
    return &catalog_find(catalog, "x")->settings;
}

static void test_what_a_definition_leaves_out_is_the_servers(void **state)
{
    const struct environment_settings *settings = settings_of(*state, "{\"type\": \"system\"}");

    assert_float_equal(settings->timeout, 30, 0);
    assert_float_equal(settings->max_timeout, 600, 0);
    assert_memory_equal(&settings->limits, &defaults.limits, sizeof settings->limits);
    assert_int_equal(settings->disk, 1000);
    assert_int_equal(settings->output, 100);
    assert_int_equal(settings->approval, APPROVAL_FIRST);
    assert_null(settings->variables[0]);
}

static void test_a_definition_has_its_own_limits_and_variables(void **state)
{
    const struct environment_settings *settings = settings_of(
        *state, "{\"type\": \"system\", \"timeout\": 5, \"max_timeout\": 7.5,"
                " \"limits\": {\"memory\": 1, \"processes\": 2, \"disk\": 3, \"output\": 4},"
                " \"approval\": \"always\","
                " \"environment\": {\"TZ\": \"UTC\", \"EMPTY\": \"\"}}");

    assert_int_equal(settings->approval, APPROVAL_ALWAYS);
    assert_float_equal(settings->timeout, 5, 0);
    assert_float_equal(settings->max_timeout, 7.5, 0);
    assert_int_equal(settings->limits.memory, 1);
    assert_int_equal(settings->limits.processes, 2);
    assert_int_equal(settings->limits.file_size, 3);
    assert_int_equal(settings->disk, 3);
    assert_int_equal(settings->output, 4);
    assert_string_equal(settings->variables[0], "TZ=UTC");
    assert_string_equal(settings->variables[1], "EMPTY=");
    assert_null(settings->variables[2]);
}

static void test_a_lower_maximum_lowers_the_timeout(void **state)
{
    const struct environment_settings *settings =
        settings_of(*state, "{\"type\": \"system\", \"max_timeout\": 10}");

    assert_float_equal(settings->timeout, 10, 0);
}

static const struct {
    const char *definition;
    const char *key; /* to blame */
    const char *message;
} faults[] = {
    {"{\"type\": \"system\", \"timeout\": 700}", "timeout",
     "700 seconds is more than max_timeout, which is 600"},
    {"{\"type\": \"system\", \"timeout\": 9, \"max_timeout\": 8}", "timeout",
     "9 seconds is more than max_timeout, which is 8"},
    {"{\"type\": \"conda\"}", "type", "there is no environment type \"conda\""},
    {"{\"type\": \"venv\", \"pip_packages\": [\"numpy\", \"../x\"]}", "pip_packages",
     "package 2: paths are not taken, only packages by name"},
};

static void test_faults_name_the_key_to_blame(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        struct error err = ERROR_INIT;
        const char *key = NULL;

        assert_int_equal(add(*state, "x", faults[i].definition, &key, &err), -1);
        assert_string_equal(key, faults[i].key);
        assert_string_equal(err.message, faults[i].message);
        assert_null(catalog_find(*state, "x"));
    }
}

/* It may be installed later, and the other environments can be used meanwhile. */
static void test_an_interpreter_need_not_be_there_yet(void **state)
{
    settings_of(*state, "{\"type\": \"system\", \"executable\": \"/nowhere/python3\"}");
}

static void test_names_are_kept_in_order_and_once(void **state)
{
    struct error err = ERROR_INIT;
    const char *key = NULL;

    assert_int_equal(add(*state, "z", "{\"type\": \"system\"}", &key, &err), 0);
    assert_int_equal(add(*state, "a", "{\"type\": \"system\"}", &key, &err), 0);
    assert_int_equal(add(*state, "z", "{\"type\": \"system\"}", &key, &err), -1);
    assert_int_equal(catalog_count(*state), 2);
    assert_string_equal(catalog_at(*state, 0)->name, "z");
    assert_string_equal(catalog_at(*state, 1)->name, "a");
    assert_string_equal(catalog_find(*state, "a")->name, "a");
    assert_string_equal(catalog_find(*state, "a")->ops->kind->name, "system");
    assert_null(catalog_find(*state, "b"));
}

/* What calls define */

static struct environment *define(struct catalog *catalog, const char *text, struct error *err)
{
    AUTO_JSON json_t *definition = json_loads(text, 0, NULL);
    AUTO_JSON json_t *images = json_pack("[s]", "python:*");
    AUTO_JSON json_t *paths = json_pack("[s]", "/usr/bin");
    size_t index;
    struct caller_rules *rules = caller_rules_new(images, paths, &defaults, &index, err);
    struct environment *environment = catalog_define(catalog, "ann", definition, rules, err);

    caller_rules_free(rules);
    return environment;
}

static void test_the_same_definition_finds_the_same_environment(void **state)
{
    struct error err = ERROR_INIT;
    struct environment *first =
        define(*state, "{\"type\": \"system\", \"timeout\": 5, \"max_timeout\": 9}", &err);

    assert_non_null(first);
    assert_string_equal(first->name, "inline");
    assert_float_equal(first->settings.timeout, 5, 0);
    assert_int_equal(first->settings.output, 100);
    assert_ptr_equal(
        define(*state, "{\"max_timeout\": 9, \"timeout\": 5, \"type\": \"system\"}", &err), first);
    assert_ptr_not_equal(
        define(*state, "{\"type\": \"system\", \"timeout\": 5, \"max_timeout\": 8}", &err), first);
    assert_null(catalog_find(*state, "inline"));
}

/* Whichever way a path is written, it is the same Python. */
static void test_definitions_are_compared_as_they_are_used(void **state)
{
    struct error err = ERROR_INIT;
    struct environment *first =
        define(*state, "{\"type\": \"system\", \"executable\": \"/usr/bin/env\"}", &err);

    assert_non_null(first);
    assert_string_equal(first->settings.paths[0], "/usr/bin/env");
    assert_null(first->settings.paths[1]);
    assert_ptr_equal(
        define(*state, "{\"type\": \"system\", \"executable\": \"/usr//lib/../bin/./env\"}", &err),
        first);
}

static void test_what_the_rules_refuse_is_no_environment(void **state)
{
    struct error err = ERROR_INIT;

    assert_null(define(*state, "{\"type\": \"system\", \"executable\": \"/etc/passwd\"}", &err));
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
}

static void test_what_a_kind_refuses_is_an_argument_that_is_wrong(void **state)
{
    struct error err = ERROR_INIT;

    assert_null(define(*state, "{\"type\": \"system\", \"timeout\": 9, \"max_timeout\": 8}", &err));
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    assert_string_equal(
        err.message,
        "environment_definition.timeout: 9 seconds is more than max_timeout, which is 8");
}

/* Another configuration */

static struct catalog *catalog_of(const char *name, const char *definition)
{
    struct catalog *catalog = catalog_new(&(struct catalog_settings){0});
    struct error err = ERROR_INIT;
    const char *key;

    assert_int_equal(add(catalog, name, definition, &key, &err), 0);
    return catalog;
}

static void test_what_says_the_same_stays_the_same_environment(void **state)
{
    const struct environment *before;

    settings_of(*state, "{\"type\": \"system\", \"timeout\": 5}");
    before = catalog_find(*state, "x");
    catalog_replace(*state, catalog_of("x", "{\"timeout\": 5, \"type\": \"system\"}"));
    assert_ptr_equal(catalog_find(*state, "x"), before);
}

static void test_what_says_something_else_is_another_environment(void **state)
{
    settings_of(*state, "{\"type\": \"system\", \"timeout\": 5}");
    catalog_replace(*state, catalog_of("x", "{\"type\": \"system\", \"timeout\": 6}"));
    assert_float_equal(catalog_find(*state, "x")->settings.timeout, 6, 0);
    catalog_replace(*state, catalog_of("y", "{\"type\": \"system\"}"));
    assert_null(catalog_find(*state, "x"));
    assert_non_null(catalog_find(*state, "y"));
}

static void test_other_defaults_make_another_environment(void **state)
{
    struct environment_settings others = defaults;
    AUTO_JSON json_t *definition = json_pack("{s:s}", "type", "system");
    struct catalog *next = catalog_new(&(struct catalog_settings){0});
    struct error err = ERROR_INIT;
    const char *key;

    settings_of(*state, "{\"type\": \"system\"}");
    others.output = 99;
    assert_int_equal(catalog_add(next, "x", definition, &others, &key, &err), 0);
    catalog_replace(*state, next);
    assert_int_equal(catalog_find(*state, "x")->settings.output, 99);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

static void test_a_sandbox_is_an_isolation_of_its_own(void **state)
{
    const struct sandbox_settings *sandbox =
        &settings_of(*state, "{\"type\": \"system\", \"isolation\": \"sandbox\", \"read\": "
                             "[\"/usr/share\"]}")
             ->sandbox;
    struct error err = ERROR_INIT;
    const char *key;

    assert_true(sandbox->is_wanted);
    assert_string_equal(sandbox->read[0], "/usr/share");
    assert_int_equal(environment_isolation(catalog_find(*state, "x")), ISOLATION_SANDBOX);
    assert_int_equal(add(*state, "y", "{\"type\": \"system\"}", &key, &err), 0);
    assert_int_equal(environment_isolation(catalog_find(*state, "y")), ISOLATION_NONE);
}

static void test_a_path_that_no_sandbox_gets_is_blamed(void **state)
{
    struct error err = ERROR_INIT;
    const char *key;

    assert_int_equal(add(*state, "x",
                         "{\"type\": \"venv\", \"isolation\": \"sandbox\", \"write\": [\"/proc\"]}",
                         &key, &err),
                     -1);
    assert_string_equal(key, "write");
    assert_non_null(strstr(err.message, "/proc is a place of the system"));
}

static void add_reader(struct catalog *catalog)
{
    struct error err = ERROR_INIT;
    const char *key;

    assert_int_equal(add(catalog, "reader",
                         "{\"type\": \"system\", \"isolation\": \"sandbox\", \"read\": "
                         "[\"/var/tmp\"]}",
                         &key, &err),
                     0);
}

/* How the reader starts its Pythons beside the environment OTHER; NULL: beside none. */
static enum start_policy start_beside(const char *other)
{
    struct catalog *catalog = catalog_new(&(struct catalog_settings){0});
    struct error err = ERROR_INIT;
    const char *key;
    enum start_policy start;

    add_reader(catalog);
    if (other && add(catalog, "writer", other, &key, &err) < 0)
        fail_msg("%s", err.message);
    catalog_complete(catalog);
    start = catalog_find(catalog, "reader")->settings.start;
    catalog_free(catalog);
    return start;
}

#define WITH_VOLUME(MODE)                                                                          \
    "{\"type\": \"docker\", \"image\": \"python:3\", \"volumes\": {\"/var/tmp\": "                 \
    "{\"path\": "                                                                                  \
    "\"/data\", \"mode\": \"" MODE "\"}}}"

static const char writer[] =
    "{\"type\": \"system\", \"isolation\": \"sandbox\", \"write\": [\"/var/tmp\"]}";

static void test_what_reads_what_others_write_starts_no_copies(void **state)
{
    (void)state;
    assert_int_equal(start_beside(NULL), START_WARM);
    assert_int_equal(start_beside(writer), START_FRESH);
    assert_int_equal(start_beside(WITH_VOLUME("ro")), START_WARM);
    assert_int_equal(start_beside(WITH_VOLUME("rw")), START_FRESH);
}

/* The Pythons that wait could have come upon what is written from now on. */
static void test_a_reload_that_lets_others_write_makes_another_environment(void **state)
{
    struct catalog *next = catalog_new(&(struct catalog_settings){0});
    const struct environment *before;
    struct error err = ERROR_INIT;
    const char *key;

    add_reader(*state);
    catalog_complete(*state);
    before = catalog_find(*state, "reader");
    add_reader(next);
    assert_int_equal(add(next, "writer", writer, &key, &err), 0);
    catalog_complete(next);
    catalog_replace(*state, next);
    assert_ptr_not_equal(catalog_find(*state, "reader"), before);
}

/* A container needs none, also where the operator wants one for all that runs on this machine. */
static void test_what_is_wanted_for_all_counts_on_this_machine(void **state)
{
    struct environment_settings wanted = defaults;
    AUTO_JSON json_t *here = json_pack("{s:s, s:s}", "type", "system", "isolation", "auto");
    AUTO_JSON json_t *there =
        json_pack("{s:s, s:s, s:s}", "type", "docker", "isolation", "auto", "image", "python:3");
    struct error err = ERROR_INIT;
    const char *key;

    wanted.sandbox.is_wanted = true;
    assert_int_equal(catalog_add(*state, "here", here, &wanted, &key, &err), 0);
    assert_int_equal(catalog_add(*state, "there", there, &wanted, &key, &err), 0);
    assert_int_equal(environment_isolation(catalog_find(*state, "here")), ISOLATION_SANDBOX);
    assert_int_equal(environment_isolation(catalog_find(*state, "there")), ISOLATION_DOCKER);
}

/* An extension has the settings of its environment, and the packages of both. */
static void test_an_extension_is_its_environment_with_more_packages(void **state)
{
    struct error err = ERROR_INIT;
    const char *key;
    struct environment *box;
    struct environment *venv;

    assert_int_equal(
        add(*state, "box",
            "{\"type\": \"system\", \"executable\": \"/usr/bin/python3\", "
            "\"approval\": \"never\", \"timeout\": 7, \"environment\": {\"A\": \"1\"}}",
            &key, &err),
        0);
    assert_int_equal(
        add(*state, "venv", "{\"type\": \"venv\", \"pip_packages\": [\"a\"]}", &key, &err), 0);
    box = define(*state, "{\"type\": \"venv\", \"extends\": \"box\", \"pip_packages\": [\"b\"]}",
                 &err);
    venv = define(*state,
                  "{\"type\": \"venv\", \"extends\": \"venv\", \"pip_packages\": [\"b\", \"a\"]}",
                  &err);
    assert_non_null(box);
    assert_string_equal(box->ops->kind->name, "venv");
    assert_string_equal(json_object_get_string(box->definition, "python_path"), "/usr/bin/python3");
    assert_true(json_is_true(json_object_get(box->definition, "system_site_packages")));
    assert_float_equal(box->settings.timeout, 7, 0);
    assert_string_equal(box->settings.variables[0], "A=1");
    assert_int_equal(box->settings.start, START_COLD);
    assert_int_equal(box->settings.approval, APPROVAL_FIRST);
    assert_non_null(venv);
    assert_int_equal(json_array_size(json_object_get(venv->definition, "pip_packages")), 2);
    assert_false(json_is_true(json_object_get(venv->definition, "system_site_packages")));
}

static void test_an_extension_that_is_settled_again_is_the_same(void **state)
{
    AUTO_JSON json_t *none = json_array();
    struct error err = ERROR_INIT;
    const char *key;
    struct environment *first;
    struct caller_rules *rules;
    size_t index;

    assert_int_equal(
        add(*state, "venv", "{\"type\": \"venv\", \"pip_packages\": [\"a\"]}", &key, &err), 0);
    first = define(*state, "{\"type\": \"venv\", \"extends\": \"venv\", \"pip_packages\": [\"b\"]}",
                   &err);
    assert_non_null(first);
    rules = caller_rules_new(none, none, &defaults, &index, &err);
    assert_ptr_equal(catalog_redefine(*state, "ann", first, rules, &err), first);
    caller_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_a_definition_leaves_out_is_the_servers),
        TEST(test_a_definition_has_its_own_limits_and_variables),
        TEST(test_a_lower_maximum_lowers_the_timeout),
        TEST(test_faults_name_the_key_to_blame),
        TEST(test_an_interpreter_need_not_be_there_yet),
        TEST(test_names_are_kept_in_order_and_once),
        TEST(test_the_same_definition_finds_the_same_environment),
        TEST(test_definitions_are_compared_as_they_are_used),
        TEST(test_what_the_rules_refuse_is_no_environment),
        TEST(test_what_a_kind_refuses_is_an_argument_that_is_wrong),
        TEST(test_what_says_the_same_stays_the_same_environment),
        TEST(test_what_says_something_else_is_another_environment),
        TEST(test_other_defaults_make_another_environment),
        cmocka_unit_test_setup_teardown(test_an_extension_is_its_environment_with_more_packages,
                                        setup_with_loop, teardown),
        cmocka_unit_test_setup_teardown(test_an_extension_that_is_settled_again_is_the_same,
                                        setup_with_loop, teardown),
        cmocka_unit_test_setup_teardown(test_a_sandbox_is_an_isolation_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_path_that_no_sandbox_gets_is_blamed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_is_wanted_for_all_counts_on_this_machine, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_reads_what_others_write_starts_no_copies, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_a_reload_that_lets_others_write_makes_another_environment, setup, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
