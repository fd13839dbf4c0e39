#include "base/json.h"
#include "server/configuration/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *const STDIO[] = {"stdio", NULL};
static const char *const SOCKET[] = {"unix:/run/x.sock", NULL};
static const char *const BOTH[] = {"stdio", "unix:/run/x.sock", NULL};
static const char *const NONE[] = {NULL};

static bool may_define(const char *text, const char *const *addresses)
{
    struct config *config = config_parse("c.yaml", text, strlen(text));
    bool result;

    assert_false(config_has_errors(config));
    result = config_callers(config, addresses).define_environments;
    config_free(config);
    return result;
}

static void test_only_the_client_of_stdio_may_define_environments(void **state)
{
    (void)state;
    assert_true(may_define("{}", STDIO));
    assert_false(may_define("{}", SOCKET));
    assert_false(may_define("{}", BOTH));
    assert_false(may_define("{}", NONE));
}

static void test_what_is_written_holds_for_all(void **state)
{
    (void)state;
    assert_false(may_define("callers: {define_environments: false}", STDIO));
    assert_true(may_define("callers: {define_environments: true}", SOCKET));
    assert_true(may_define("callers: {define_environments: true}", BOTH));
}

static void expect_allowed(const char *text, const char *images, const char *paths)
{
    struct config *config = config_parse("/etc/c.yaml", text, strlen(text));
    struct config_callers callers = config_callers(config, STDIO);
    AUTO_FREE char *allowed_images = json_text(callers.allowed_images);
    AUTO_FREE char *allowed_paths = json_text(callers.allowed_paths);

    assert_false(config_has_errors(config));
    assert_string_equal(allowed_images, images);
    assert_string_equal(allowed_paths, paths);
    config_free(config);
}

static void test_images_and_paths_are_allowed_by_name(void **state)
{
    (void)state;
    expect_allowed("{}", "[\"python:*\"]", "[]");
    expect_allowed("callers: {allowed_images: [], allowed_paths: [/srv, shared]}", "[]",
                   "[\"/srv\",\"/etc/shared\"]");
    expect_allowed("callers: {allowed_images: [\"*/lab/*\"]}", "[\"*/lab/*\"]", "[]");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_client_of_stdio_may_define_environments),
        cmocka_unit_test(test_what_is_written_holds_for_all),
        cmocka_unit_test(test_images_and_paths_are_allowed_by_name),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
