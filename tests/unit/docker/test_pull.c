#include "environments/docker/pull.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void note(json_t *layers, const char *text)
{
    AUTO_JSON json_t *line = json_loads(text, 0, NULL);

    assert_non_null(line);
    docker_pull_note(layers, line);
}

static void test_layers_are_counted_as_they_come(void **state)
{
    AUTO_JSON json_t *layers = json_object();
    double fraction;
    size_t count;

    (void)state;
    assert_int_equal(docker_pull_complete(layers, &count, &fraction), 0);
    assert_int_equal(count, 0);
    note(layers, "{\"status\": \"Pulling from library/python\", \"id\": \"3.11-slim\"}");
    note(layers, "{\"status\": \"Pulling fs layer\", \"id\": \"a\"}");
    note(layers, "{\"status\": \"Already exists\", \"id\": \"b\"}");
    assert_int_equal(docker_pull_complete(layers, &count, &fraction), 1);
    assert_int_equal(count, 2);
    assert_true(fraction == 0.5);
    note(layers, "{\"status\": \"Downloading\", \"id\": \"a\","
                 " \"progressDetail\": {\"current\": 50, \"total\": 100}}");
    (void)docker_pull_complete(layers, &count, &fraction);
    assert_true(fraction > 0.69 && fraction < 0.71);
    note(layers, "{\"status\": \"Extracting\", \"id\": \"a\","
                 " \"progressDetail\": {\"current\": 1, \"total\": 2}}");
    (void)docker_pull_complete(layers, &count, &fraction);
    assert_true(fraction > 0.94 && fraction < 0.96);
    note(layers, "{\"status\": \"Pull complete\", \"id\": \"a\"}");
    assert_int_equal(docker_pull_complete(layers, &count, &fraction), 2);
    assert_true(fraction == 1);
}

static void test_nonsense_is_passed_over(void **state)
{
    AUTO_JSON json_t *layers = json_object();
    double fraction;
    size_t count;

    (void)state;
    note(layers, "{}");
    note(layers, "{\"id\": \"a\"}");
    note(layers, "{\"id\": 1, \"status\": \"Waiting\"}");
    note(layers, "{\"id\": \"a\", \"status\": \"Downloading\", \"progressDetail\": 7}");
    note(layers, "{\"id\": \"a\", \"status\": \"Downloading\","
                 " \"progressDetail\": {\"current\": 9, \"total\": 0}}");
    note(layers, "{\"id\": \"a\", \"status\": \"Downloading\","
                 " \"progressDetail\": {\"current\": 9, \"total\": 3}}");
    assert_int_equal(docker_pull_complete(layers, &count, &fraction), 0);
    assert_int_equal(count, 1);
    assert_true(fraction == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_counted_as_they_come),
        cmocka_unit_test(test_nonsense_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
