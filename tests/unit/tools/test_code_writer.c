#include "server/tools/python/code_writer.h"

#include "base/json.h"
#include "environments/catalog/catalog.h"
#include "server/tools/caller.h"
#include "server/tools/prompt.h"
#include "server/tools/python/python_host.h"
#include "server/tools/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct prompting {
    struct catalog *catalog;
    struct registry *registry;
    struct python_host *python;
    struct principals *principals;
    struct tool_caller *caller; /* who asks */
};

static void add(struct catalog *catalog, const char *name, const char *text)
{
    static const struct environment_settings defaults = {.timeout = 30, .max_timeout = 600};
    AUTO_JSON json_t *definition = json_loads(text, 0, NULL);
    struct error err = ERROR_INIT;
    const char *key;

    if (catalog_add(catalog, name, definition, &defaults, &key, &err) < 0)
        fail_msg("%s", err.message);
}

/* Only looked at: nothing runs. */
static int setup(void **state)
{
    struct prompting *prompting = calloc(1, sizeof *prompting);
    struct error err = ERROR_INIT;

    prompting->catalog = catalog_new(&(struct catalog_settings){.state = "/nowhere"});
    add(prompting->catalog, "system", "{\"type\": \"system\"}");
    add(prompting->catalog, "science",
        "{\"type\": \"venv\", \"python_version\": \"3.11\", \"pip_packages\": [\"numpy\"],"
        " \"approval\": \"always\"}");
    prompting->registry = registry_new();
    prompting->principals = principals_new();
    prompting->caller = tool_caller_new(prompting->principals, "somebody", true);
    prompting->python = python_host_new(
        &(struct python_settings){.catalog = prompting->catalog, .default_environment = "system"});
    assert_int_equal(code_writer_register(prompting->registry, prompting->python, &err), 0);
    *state = prompting;
    return 0;
}

static int teardown(void **state)
{
    struct prompting *prompting = *state;

    tool_caller_unref(prompting->caller);
    principals_free(prompting->principals);
    registry_free(prompting->registry);
    python_host_free(prompting->python);
    catalog_free(prompting->catalog);
    free(prompting);
    return 0;
}

/* The text for ARGUMENTS (JSON text), owned by the caller; NULL with ERR. */
static char *get(const struct prompting *prompting, const char *text, struct error *err)
{
    AUTO_JSON json_t *arguments = json_loads(text, 0, NULL);
    struct invocation invocation = {.arguments = arguments, .caller = prompting->caller};
    char *got = NULL;

    assert_int_equal(prompt_prepare(&invocation, prompting->registry, "code_writer", err), 0);
    if (invocation_start(&invocation, err) == OUTCOME_READY)
        got = strdup(json_string_value(json_object_get(
            json_object_get(json_array_get(invocation.result.content, 0), "content"), "text")));
    invocation_deinit(&invocation);
    return got;
}

static void test_every_environment_is_described(void **state)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *text = get(*state, "{}", &err);

    assert_non_null(strstr(text, "print() what you want to see"));
    assert_non_null(strstr(text, "without it: \"system\""));
    assert_non_null(strstr(text, "\n- system: system\n"));
    assert_non_null(strstr(
        text, "\n- science: venv, Python 3.11, with numpy; a person is asked before each call\n"));
    assert_non_null(strstr(text, "\n  - Packages: numpy\n"));
    assert_non_null(strstr(text, "When one is declined"));
    assert_null(strstr(text, "The task"));
}

static void test_one_environment_and_a_task_can_be_chosen(void **state)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *text =
        get(*state, "{\"environment\": \"system\", \"task\": \"Sum it up.\"}", &err);

    assert_non_null(strstr(text, "Where it runs: pass `environment`: \"system\"."));
    assert_null(strstr(text, "science"));
    assert_null(strstr(text, "When one is declined"));
    assert_non_null(strstr(text, "\nThe task:\n\nSum it up.\n"));
}

static void test_an_unknown_environment_is_an_error(void **state)
{
    struct error err = ERROR_INIT;

    assert_null(get(*state, "{\"environment\": \"sciense\"}", &err));
    assert_int_equal(err.code, ERROR_INVALID_PARAMS);
    assert_string_equal(err.message, "there is no environment \"sciense\"");
}

static void assert_completes(const struct prompting *prompting, const char *argument,
                             const char *value, const char *expected)
{
    const struct registry_entry *entry =
        registry_find(prompting->registry, REGISTRY_PROMPTS, CODE_WRITER_NAME);
    AUTO_JSON json_t *found = prompt_of(entry)->complete(entry->data, prompting->caller->principal,
                                                         argument, value, NULL);
    AUTO_FREE char *text = json_text(found);

    assert_string_equal(text, expected);
}

static void test_names_of_environments_are_completed(void **state)
{
    assert_completes(*state, "environment", "", "[\"system\",\"science\"]");
    assert_completes(*state, "environment", "sc", "[\"science\"]");
    assert_completes(*state, "environment", "x", "[]");
    assert_completes(*state, "task", "", "[]");
}

/* The settings of the tools are the prompt's. */
static void test_another_configuration_is_told_at_once(void **state)
{
    struct prompting *prompting = *state;
    struct error err = ERROR_INIT;
    AUTO_FREE char *text = NULL;

    add(prompting->catalog, "late", "{\"type\": \"system\"}");
    python_host_set(prompting->python, &(struct python_settings){.catalog = prompting->catalog,
                                                                 .default_environment = "late"});
    text = get(prompting, "{}", &err);
    assert_non_null(strstr(text, "without it: \"late\""));
    assert_completes(prompting, "environment", "l", "[\"late\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_environment_is_described, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_environment_and_a_task_can_be_chosen, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_an_unknown_environment_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_of_environments_are_completed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_configuration_is_told_at_once, setup,
                                        teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
