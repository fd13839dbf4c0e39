#include "environments/environment_settings.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void *place_of(const struct environment_setting *setting,
                      struct environment_settings *settings)
{
    return (char *)settings + setting->offset;
}

/* Gives SETTING in SETTINGS, which are all 0, another value. */
static void change(const struct environment_setting *setting, struct environment_settings *settings)
{
    void *place = place_of(setting, settings);

    if (setting->kind == SETTING_TEXT)
        *(char **)place = memory_copy_string("import os\n");
    else
        *(char *)place = 1;
}

static void digest_of(const struct environment_settings *settings, char ret[DIGEST_TEXT_BYTES])
{
    AUTO_JSON json_t *definition = json_pack("{s:s}", "type", "system");

    environment_digest(definition, settings, ret);
}

static void test_each_setting_is_compared_and_digested(void **state)
{
    const struct environment_settings none = {0};
    const struct environment_setting *setting;
    char digest_of_none[DIGEST_TEXT_BYTES];

    (void)state;
    digest_of(&none, digest_of_none);
    for (size_t i = 0; (setting = environment_setting_at(i)); i++) {
        struct environment_settings changed = {0};
        char digest[DIGEST_TEXT_BYTES];

        assert_true(environment_settings_are_equal(&changed, &none));
        change(setting, &changed);
        assert_false(environment_settings_are_equal(&changed, &none));
        assert_false(environment_settings_are_equal(&none, &changed));
        digest_of(&changed, digest);
        assert_string_not_equal(digest, digest_of_none);
        environment_settings_deinit(&changed);
    }
}

/* Reads a definition that gives 1, or word 1, for SETTING alone. */
static struct environment_settings read_alone(const struct environment_setting *setting)
{
    struct environment_settings settings = {0};
    AUTO_JSON json_t *definition = json_object();
    json_t *object = definition;

    if (setting->section) {
        object = json_object();
        json_object_set_new(definition, setting->section, object);
    }
    json_object_set_new(object, setting->key,
                        setting->words ? json_string(setting->words[1]) : json_integer(1));
    environment_settings_read(&settings, definition);
    return settings;
}

static void test_each_key_is_read_into_its_own_setting(void **state)
{
    const struct environment_setting *setting;
    const struct environment_setting *other;

    (void)state;
    for (size_t i = 0; (setting = environment_setting_at(i)); i++) {
        struct environment_settings settings;

        if (!setting->key)
            continue;
        settings = read_alone(setting);
        for (size_t j = 0; (other = environment_setting_at(j)); j++) {
            const double number = environment_setting_number(other, &settings);

            assert_float_equal(number, j == i ? 1 : 0, 0);
        }
    }
}

static void test_a_setting_that_is_left_out_stays(void **state)
{
    const struct environment_settings before = {.timeout = 3.5, .start = START_COLD, .disk = 7};
    struct environment_settings settings = before;
    AUTO_JSON json_t *definition = json_pack("{s:{}}", "limits");

    (void)state;
    environment_settings_read(&settings, definition);
    assert_true(environment_settings_are_equal(&settings, &before));
}

static void test_a_file_can_be_as_large_as_all_of_them(void **state)
{
    struct environment_settings settings = {.disk = 7};
    AUTO_JSON json_t *definition = json_pack("{s:{s:i}}", "limits", "disk", 9);

    (void)state;
    environment_settings_read(&settings, definition);
    assert_int_equal(settings.limits.file_size, 9);
}

static void test_members_of_the_configuration_are_known(void **state)
{
    (void)state;
    assert_true(environment_settings_have("timeout"));
    assert_true(environment_settings_have("limits"));
    assert_false(environment_settings_have("memory"));
    assert_false(environment_settings_have("listen"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_setting_is_compared_and_digested),
        cmocka_unit_test(test_each_key_is_read_into_its_own_setting),
        cmocka_unit_test(test_a_setting_that_is_left_out_stays),
        cmocka_unit_test(test_a_file_can_be_as_large_as_all_of_them),
        cmocka_unit_test(test_members_of_the_configuration_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
