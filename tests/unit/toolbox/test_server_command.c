#include "toolbox/server_command.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "toolbox/secrets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void assert_words(json_t *command, const char *folder, const char *const *wanted)
{
    AUTO(secrets_deinit) struct secrets secrets = {0};
    struct error err = ERROR_INIT;
    char **words = server_command_read(command, folder, &secrets, &err);
    size_t i = 0;

    assert_non_null(words);
    for (; wanted[i]; i++)
        assert_string_equal(words[i], wanted[i]);
    assert_null(words[i]);
    memory_free_strings(words);
    json_decref(command);
}

static void test_relative_paths_begin_in_the_folder(void **state)
{
    (void)state;
    assert_words(json_pack("[s, s, s, s, s]", "bin/server", ".", "..", "./data", "../other"),
                 "/srv/a",
                 (const char *[]){"/srv/a/bin/server", "/srv/a", "/srv/a/..", "/srv/a/data",
                                  "/srv/a/../other", NULL});
    assert_words(json_pack("[s, s]", "./server", "--root=./data"), "/srv/a",
                 (const char *[]){"/srv/a/server", "--root=/srv/a/data", NULL});
    assert_words(json_pack("[s, s]", "./server", "--root=."), "/",
                 (const char *[]){"/server", "--root=/", NULL});
}

static void test_other_words_stay_as_they_are(void **state)
{
    (void)state;
    assert_words(json_pack("[s, s, s, s, s]", "uv", "run", "data/x", "a=./b", "--dots=..x"),
                 "/srv/a", (const char *[]){"uv", "run", "data/x", "a=./b", "--dots=..x", NULL});
    assert_words(json_pack("[s, s]", "/usr/bin/python3", "..."), "/srv/a",
                 (const char *[]){"/usr/bin/python3", "...", NULL});
}

static void test_a_missing_variable_is_an_error(void **state)
{
    AUTO(secrets_deinit) struct secrets secrets = {0};
    AUTO_JSON json_t *command = json_pack("[s, s]", "server", "${NO_SUCH_VARIABLE}");
    struct error err = ERROR_INIT;

    (void)state;
    assert_null(server_command_read(command, "/srv/a", &secrets, &err));
    assert_int_equal(err.code, ERROR_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relative_paths_begin_in_the_folder),
        cmocka_unit_test(test_other_words_stay_as_they_are),
        cmocka_unit_test(test_a_missing_variable_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
