#include "environments/callers/definition_schema.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = definition_schemas_new();
    return 0;
}

static int tear_down(void **state)
{
    definition_schemas_free(*state);
    return 0;
}

static void expect_completed(void **state, const char *type, const char *definition,
                             const char *expected)
{
    AUTO_JSON json_t *completed = json_loads(definition, 0, NULL);
    AUTO_JSON json_t *wanted = json_loads(expected, 0, NULL);
    AUTO_FREE char *text = NULL;

    definition_schema_complete(definition_schemas_find(*state, type), completed);
    text = json_text(completed);
    if (!json_equal(completed, wanted))
        fail_msg("%s becomes %s, not %s", definition, text, expected);
}

static void test_each_key_that_is_left_out_has_its_default(void **state)
{
    expect_completed(state, "system", "{}",
                     "{\"isolation\": \"auto\", \"nice\": 0, \"tools\": [], \"start\": \"warm\","
                     " \"preload\": \"auto\", \"prepare\": \"lazy\", \"prepare_timeout\": 600}");
    expect_completed(
        state, "venv", "{}",
        "{\"system_site_packages\": false, \"pip_packages\": [], \"allow_source_builds\": false,"
        " \"isolation\": \"auto\", \"nice\": 0, \"tools\": [], \"start\": \"warm\", \"preload\": "
        "\"auto\","
        " \"prepare\": \"lazy\", \"prepare_timeout\": 600}");
}

static void test_what_is_written_stays(void **state)
{
    expect_completed(state, "system",
                     "{\"isolation\": \"none\", \"nice\": 5, \"start\": \"cold\","
                     " \"preload\": [\"numpy\"], \"prepare\": \"eager\", \"prepare_timeout\": 1}",
                     "{\"isolation\": \"none\", \"nice\": 5, \"start\": \"cold\","
                     " \"preload\": [\"numpy\"], \"prepare\": \"eager\", \"prepare_timeout\": 1, "
                     "\"tools\": []}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_key_that_is_left_out_has_its_default, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_written_stays, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
