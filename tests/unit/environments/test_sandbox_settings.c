#include "environments/sandbox_settings.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    char *scratch;
    char *state;
};

static int set_up(void **state)
{
    struct fixture *fixture = NEW(struct fixture);

    fixture->scratch = scratch_new();
    shell(fixture->scratch, "mkdir -p data/in out around/state/venvs home/keys; echo x > file; "
                            "ln -s data link; mkfifo pipe");
    fixture->state = memory_format("%s/around/state", fixture->scratch);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    scratch_free(fixture->scratch);
    free(fixture->state);
    free(fixture);
    return 0;
}

/* TEXT with the scratch directory for each "@". New reference. */
static json_t *definition_of(const struct fixture *fixture, const char *text)
{
    AUTO_FREE char *written = memory_copy_string("");
    json_t *definition;

    for (; *text; text++) {
        char *longer = *text == '@' ? memory_format("%s%s", written, fixture->scratch)
                                    : memory_format("%s%c", written, *text == '\'' ? '"' : *text);

        free(written);
        written = longer;
    }
    definition = json_loads(written, 0, NULL);
    assert_non_null(definition);
    return definition;
}

static int read_definition(const struct fixture *fixture, const char *text,
                           struct sandbox_settings *settings, const char **ret_key,
                           struct error *err)
{
    AUTO_JSON json_t *definition = definition_of(fixture, text);

    return sandbox_settings_read(settings, definition, fixture->state, ret_key, err);
}

static void assert_refused(const struct fixture *fixture, const char *text, const char *key,
                           const char *words)
{
    struct sandbox_settings settings = {0};
    struct error err = ERROR_INIT;
    const char *blamed = NULL;

    if (read_definition(fixture, text, &settings, &blamed, &err) == 0)
        fail_msg("%s is allowed", text);
    assert_string_equal(blamed, key);
    if (!strstr(err.message, words))
        fail_msg("%s: \"%s\" does not say \"%s\"", text, err.message, words);
    sandbox_settings_deinit(&settings);
}

static void test_there_is_no_sandbox_unless_it_is_asked_for(void **state)
{
    static const char *const texts[] = {"{}", "{'isolation': 'auto'}", "{'isolation': 'none'}"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct sandbox_settings settings = {0};
        struct error err = ERROR_INIT;
        const char *key;

        assert_int_equal(read_definition(*state, texts[i], &settings, &key, &err), 0);
        assert_false(settings.is_wanted);
        assert_null(settings.read);
    }
}

static void test_what_the_operator_opens_is_read(void **state)
{
    const struct fixture *fixture = *state;
    AUTO_FREE char *data = memory_format("%s/data", fixture->scratch);
    AUTO_FREE char *file = memory_format("%s/file", fixture->scratch);
    struct sandbox_settings settings = {0};
    struct error err = ERROR_INIT;
    const char *key;

    assert_int_equal(read_definition(fixture,
                                     "{'isolation': 'sandbox', 'require': 'sandbox', 'network': "
                                     "true, 'read': ['@/link', '@/file'], 'write': ['@/out/']}",
                                     &settings, &key, &err),
                     0);
    assert_true(settings.is_wanted && settings.required && settings.network);
    assert_string_equal(settings.read[0], data);
    assert_string_equal(settings.read[1], file);
    assert_null(settings.read[2]);
    assert_null(settings.write[1]);
    sandbox_settings_deinit(&settings);
}

static void test_nothing_is_open_by_itself(void **state)
{
    struct sandbox_settings settings = {0};
    struct error err = ERROR_INIT;
    const char *key;

    assert_int_equal(read_definition(*state, "{'isolation': 'sandbox', 'network': false}",
                                     &settings, &key, &err),
                     0);
    assert_true(settings.is_wanted);
    assert_false(settings.required || settings.network);
    assert_null(settings.read[0]);
    assert_null(settings.write[0]);
    sandbox_settings_deinit(&settings);
}

/* For those who have started the server, where nothing can be carried off. */
static void test_the_start_folder_is_read_in_an_optional_sandbox_without_network(void **state)
{
    static const struct {
        const char *definition;
        bool is_shown;
    } cases[] = {
        {"{}", true},
        {"{'isolation': 'auto', 'read': ['@/file']}", true},
        {"{'network': true}", false},
        {"{'network': ['packages.example.org:443']}", false}, /* can be told of it */
        {"{'isolation': 'sandbox'}", false},
        {"{'require': 'sandbox'}", false},
        {"{'write': ['@/data']}", false}, /* it is there already */
    };
    const struct fixture *fixture = *state;
    AUTO_FREE char *start = memory_format("%s/data/in", fixture->scratch);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sandbox_settings settings = {.is_wanted = true, .is_optional = true, .start = start};
        struct error err = ERROR_INIT;
        bool is_shown = false;
        const char *key;

        assert_int_equal(read_definition(fixture, cases[i].definition, &settings, &key, &err), 0);
        for (char **path = settings.read; *path; path++)
            is_shown |= strcmp(*path, start) == 0;
        assert_int_equal(is_shown, cases[i].is_shown);
        sandbox_settings_deinit(&settings);
    }
}

static void test_only_who_insists_on_a_sandbox_has_no_choice(void **state)
{
    static const struct {
        const char *definition;
        bool is_wanted;
        bool is_optional;
    } cases[] = {
        {"{}", true, true},
        {"{'isolation': 'auto'}", true, true},
        {"{'isolation': 'sandbox'}", true, false},
        {"{'require': 'sandbox'}", true, false},
        {"{'network': true}", true, true},
        {"{'network': ['packages.example.org:443']}", true, false}, /* a list is to be kept */
        {"{'isolation': 'none'}", false, true},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sandbox_settings settings = {.is_wanted = true, .is_optional = true};
        struct error err = ERROR_INIT;
        const char *key;

        assert_int_equal(read_definition(*state, cases[i].definition, &settings, &key, &err), 0);
        assert_int_equal(settings.is_wanted, cases[i].is_wanted);
        assert_int_equal(settings.is_optional, cases[i].is_optional);
        sandbox_settings_deinit(&settings);
    }
}

/* For definitions of calls: the operator's rule is the default, and "auto" keeps it. */
static void test_auto_keeps_the_default(void **state)
{
    struct sandbox_settings settings = {.is_wanted = true, .required = true};
    struct error err = ERROR_INIT;
    const char *key;

    assert_int_equal(read_definition(*state, "{'isolation': 'auto'}", &settings, &key, &err), 0);
    assert_true(settings.is_wanted && settings.required);
    sandbox_settings_deinit(&settings);
}

static void test_what_no_script_gets_is_refused(void **state)
{
    static const struct {
        const char *paths;
        const char *words;
    } cases[] = {
        {"'@/none'", "No such file"},
        {"'@/pipe'", "neither a file nor a directory"},
        {"'@/around/state'", "is the server's own state, which sandboxes never get"},
        {"'@/around/state/venvs'", "lies in the server's own state"},
        {"'@/around'", "holds the server's own state"},
        {"'@/home'", "is the home of the server's user: name the directories in it"},
        {"'/'", "holds the home of the server's user"},
        {"'/proc/self'", "lies in a place of the system"},
        {"'/sys'", "is a place of the system"},
        {"'/dev/shm'", "lies in a place of the system"},
        {"'/run'", "is a place of the system"},
        {"'/etc'", "name the files in it"},
        {"'/tmp'", "name the directories in it"},
        {"'@/data', '@/none'", "No such file"},
    };
    const struct fixture *fixture = *state;
    AUTO_FREE char *home = memory_format("%s/home", fixture->scratch);

    setenv("HOME", home, 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *reads =
            memory_format("{'isolation': 'sandbox', 'read': [%s]}", cases[i].paths);
        AUTO_FREE char *writes =
            memory_format("{'isolation': 'sandbox', 'write': [%s]}", cases[i].paths);

        assert_refused(fixture, reads, "read", cases[i].words);
        assert_refused(fixture, writes, "write", cases[i].words);
    }
}

static void test_programs_of_the_machine_are_read_alone(void **state)
{
    struct sandbox_settings settings = {0};
    struct error err = ERROR_INIT;
    const char *key;

    assert_refused(*state, "{'isolation': 'sandbox', 'write': ['/usr']}", "write",
                   "/usr is a place of the system, which scripts never change");
    assert_refused(*state, "{'isolation': 'sandbox', 'write': ['/usr/lib']}", "write", "lies in");
    assert_int_equal(read_definition(*state, "{'isolation': 'sandbox', 'read': ['/usr/lib']}",
                                     &settings, &key, &err),
                     0);
    sandbox_settings_deinit(&settings);
}

static void test_what_is_not_there_has_to_be_made(void **state)
{
    assert_refused(*state, "{'isolation': 'sandbox', 'read': ['@/new']}", "read",
                   "/new: No such file or directory; make it first");
}

static void test_a_part_of_a_home_may_be_opened(void **state)
{
    const struct fixture *fixture = *state;
    AUTO_FREE char *home = memory_format("%s/home", fixture->scratch);
    struct sandbox_settings settings = {0};
    struct error err = ERROR_INIT;
    const char *key;

    setenv("HOME", home, 1);
    assert_int_equal(read_definition(fixture,
                                     "{'isolation': 'sandbox', 'read': ['@/home/keys', "
                                     "'/etc/hostname']}",
                                     &settings, &key, &err),
                     0);
    sandbox_settings_deinit(&settings);
}

static void test_nothing_is_read_only_in_what_scripts_change(void **state)
{
    assert_refused(*state, "{'isolation': 'sandbox', 'read': ['@/data/in'], 'write': ['@/data']}",
                   "read", "which scripts may change (write)");
    assert_refused(*state, "{'isolation': 'sandbox', 'read': ['@/data'], 'write': ['@/link']}",
                   "read", "which scripts may change (write)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_there_is_no_sandbox_unless_it_is_asked_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_the_operator_opens_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_open_by_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_auto_keeps_the_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_the_start_folder_is_read_in_an_optional_sandbox_without_network, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(test_only_who_insists_on_a_sandbox_has_no_choice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_no_script_gets_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_programs_of_the_machine_are_read_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_there_has_to_be_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_part_of_a_home_may_be_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_read_only_in_what_scripts_change, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
