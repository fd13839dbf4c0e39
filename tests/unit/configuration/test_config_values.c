#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/configuration/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* The tree of TEXT as JSON. Owned by the caller. */
static char *tree_of(const char *text)
{
    struct config *config = config_parse("c.yaml", text, strlen(text));
    char *json;

    assert_false(config_has_errors(config));
    json = json_text(config_tree(config));
    config_free(config);
    return json;
}

static void test_defaults_are_filled_in(void **state)
{
    static const char expected[] =
        "{\"listen\":[\"stdio\"],"
        "\"http\":{\"allowed_hosts\":[],\"allowed_origins\":[],\"sessions\":1024,\"session_idle\":"
        "1800},"
        "\"run_many\":false,\"results\":\"text\","
        "\"working_directory\":\"temporary\",\"share_directory_across_isolation\":false,\"keep_"
        "for\":86400,"
        "\"timeout\":30,\"max_timeout\":600,\"approval\":\"never\",\"images\":\"inline\","
        "\"limits\":{\"memory\":1073741824,\"processes\":256,\"disk\":1073741824,\"output\":"
        "1048576,"
        "\"concurrent_runs\":4,\"calls_per_minute\":600,\"queued_runs\":64,\"connections\":256,"
        "\"connections_per_client\":32},"
        "\"containment\":\"strict\","
        "\"environments\":{\"system\":{\"type\":\"system\",\"isolation\":\"auto\",\"nice\":0,"
        "\"tools\":[],"
        "\"start\":\"warm\",\"preload\":\"auto\","
        "\"prepare\":\"lazy\",\"prepare_timeout\":600}},"
        "\"nodes\":{},\"callers\":{\"allowed_images\":[\"python:*\"],\"allowed_paths\":[]},"
        "\"default_environment\":\"system\"}";
    struct config *config = config_load(NULL);
    AUTO_FREE char *without_file = json_text(config_tree(config));
    AUTO_FREE char *of_empty_mapping = tree_of("{}");

    (void)state;
    assert_string_equal(without_file, expected);
    assert_string_equal(of_empty_mapping, expected);
    assert_false(config_has_errors(config));
    assert_false(config_is_missing(config));
    assert_null(config_path(config));
    config_free(config);
}

static void test_what_is_written_stays(void **state)
{
    AUTO_FREE char *tree = tree_of("limits: {memory: 1 GB, output: 2048B, processes: 1e2}\n"
                                   "timeout: 0.5\n"
                                   "environments: {only: {type: system, limits: {disk: 1TiB}}}\n");

    (void)state;
    assert_string_equal(
        tree,
        "{\"limits\":{\"memory\":1000000000,\"output\":2048,\"processes\":100,"
        "\"disk\":1073741824,\"concurrent_runs\":4,\"calls_per_minute\":600,\"queued_runs\":"
        "64,\"connections\":256,\"connections_per_client\":32},"
        "\"timeout\":0.5,"
        "\"environments\":{\"only\":{\"type\":\"system\",\"limits\":{\"disk\":1099511627776},"
        "\"isolation\":\"auto\",\"nice\":0,\"tools\":[],\"start\":\"warm\",\"preload\":\"auto\","
        "\"prepare\":\"lazy\","
        "\"prepare_timeout\":600}},"
        "\"listen\":[\"stdio\"],"
        "\"http\":{\"allowed_hosts\":[],\"allowed_origins\":[],\"sessions\":1024,\"session_"
        "idle\":1800},"
        "\"run_many\":false,\"results\":\"text\","
        "\"working_directory\":\"temporary\",\"share_directory_across_isolation\":false,"
        "\"keep_for\":86400,"
        "\"max_timeout\":600,\"approval\":\"never\",\"images\":\"inline\",\"containment\":"
        "\"strict\","
        "\"nodes\":{},\"callers\":{\"allowed_images\":[\"python:*\"],\"allowed_paths\":[]},"
        "\"default_environment\":\"only\"}");
}

/* A value in the tree of TEXT, a configuration in FILE. Owned by the caller. */
static char *value_in(const char *file, const char *text, const char *key)
{
    struct config *config = config_parse(file, text, strlen(text));
    const json_t *environments = json_object_get(config_tree(config), "environments");
    char *value;

    assert_false(config_has_errors(config));
    value = json_text(json_object_get(json_object_get(environments, "a"), key));
    config_free(config);
    return value;
}

static void test_paths_begin_in_the_folder_of_the_file(void **state)
{
    static const struct {
        const char *file;
        const char *text;
        const char *key;
        const char *value;
    } cases[] = {
        {"/etc/x/c.yaml", "{type: system, executable: bin/python3}", "executable",
         "\"/etc/x/bin/python3\""},
        {"/etc/x/c.yaml", "{type: system, executable: /bin/python3}", "executable",
         "\"/bin/python3\""},
        {"/c.yaml", "{type: venv, python_path: ./python3}", "python_path", "\"/python3\""},
        {"/etc/c.yaml", "{type: venv, venv_path: .//v}", "venv_path", "\"/etc/v\""},
        {"/etc/c.yaml", "{type: venv, requirements_file: ../r.txt}", "requirements_file",
         "\"/etc/../r.txt\""},
        {"/etc/c.yaml", "{type: venv, pip_find_links: w}", "pip_find_links", "\"/etc/w\""},
        {"/etc/c.yaml", "{type: venv, pip_find_links: .}", "pip_find_links", "\"/etc\""},
        {"/etc/c.yaml", "{type: venv, pip_find_links: ./}", "pip_find_links", "\"/etc\""},
        {"/etc/c.yaml", "{type: docker, dockerfile: Dockerfile}", "dockerfile",
         "\"/etc/Dockerfile\""},
        {"/etc/c.yaml", "{type: docker, tls: {ca_file: ca, cert_file: /c, key_file: k}}", "tls",
         "{\"ca_file\":\"/etc/ca\",\"cert_file\":\"/c\",\"key_file\":\"/etc/k\"}"},
        {"/etc/c.yaml", "{type: docker, volumes: {./a: /b, /c: {path: /d}}}", "volumes",
         "{\"/etc/a\":\"/b\",\"/c\":{\"path\":\"/d\",\"mode\":\"ro\"}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *text = memory_format("environments: {a: %s}", cases[i].text);
        AUTO_FREE char *value = value_in(cases[i].file, text, cases[i].key);

        assert_string_equal(value, cases[i].value);
    }
}

static void test_a_file_named_by_a_relative_path_has_a_folder_too(void **state)
{
    static const char text[] = "environments: {a: {type: venv, venv_path: v}}";
    char here[4096];
    AUTO_FREE char *beside = NULL;
    AUTO_FREE char *below = NULL;
    AUTO_FREE char *dotted = NULL;
    AUTO_FREE char *expected_beside = NULL;
    AUTO_FREE char *expected_below = NULL;

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    beside = value_in("c.yaml", text, "venv_path");
    below = value_in("./x/c.yaml", text, "venv_path");
    dotted = value_in("./c.yaml", text, "venv_path");
    expected_beside = memory_format("\"%s/v\"", here);
    expected_below = memory_format("\"%s/x/v\"", here);
    assert_string_equal(beside, expected_beside);
    assert_string_equal(below, expected_below);
    assert_string_equal(dotted, expected_beside);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_filled_in),
        cmocka_unit_test(test_what_is_written_stays),
        cmocka_unit_test(test_paths_begin_in_the_folder_of_the_file),
        cmocka_unit_test(test_a_file_named_by_a_relative_path_has_a_folder_too),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
