#include "server/tools/python/foreseen_tools.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *code, const char *tools)
{
    AUTO_JSON json_t *known = json_loads("{\"git-hub\": [{\"name\": \"close\", \"asks\": true}, "
                                         "{\"name\": \"read\", \"asks\": false}, "
                                         "{\"name\": \"merge-all\", \"asks\": true}], "
                                         "\"files\": [{\"name\": \"write\", \"asks\": true}]}",
                                         0, NULL);
    AUTO_JSON json_t *found = foreseen_tools_find(known, code, strlen(code));
    AUTO_JSON json_t *expected = json_loads(tools, 0, NULL);

    if (!json_equal(found, expected))
        fail_msg("%s", code);
}

static void test_what_the_code_names_is_foreseen(void **state)
{
    (void)state;
    expect("from tools import git_hub\ngit_hub.close(number=1)", "[\"git-hub.close\"]");
    expect("tools.call('git-hub.merge-all')", "[\"git-hub.merge-all\"]");
    expect("git_hub.merge_all(); files.write()", "[\"git-hub.merge-all\", \"files.write\"]");
}

static void test_nothing_else_is_foreseen(void **state)
{
    (void)state;
    expect("", "[]");
    expect("git_hub.read(); git_hub.closed(); git_hub.disclose()", "[]"); /* longer words; reads */
    expect("github.close()", "[]");                                       /* no such server */
    expect("import files\nfiles.close()", "[]");                          /* of another server */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_code_names_is_foreseen),
        cmocka_unit_test(test_nothing_else_is_foreseen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
