#include "server/tools/hints/hints.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* The hints about CODE, whose result is that of a success with the members of CHANGES put over it,
 * joined by ", ". Owned by the caller. */
static char *hints_of(const char *code, const char *changes)
{
    AUTO_JSON json_t *result = json_pack("{s:b, s:i, s:s, s:s, s:n}", "success", 1, "returncode", 0,
                                         "stdout", "", "stderr", "", "error");
    AUTO_JSON json_t *over = json_loads(changes, 0, NULL);
    AUTO_JSON json_t *hints = NULL;

    assert_non_null(over);
    json_object_update(result, over);
    hints = hints_find(&(struct hint_facts){
        .structured = result,
        .code = code,
        .code_length = strlen(code),
    });
    return json_list(hints);
}

static void test_hints_are_said_when_they_are_certain(void **state)
{
    static const struct {
        const char *code;
        const char *changes;
        const char *said; /* a part of the hints; NULL: there are none */
    } cases[] = {
        {"6 * 7", "{}", "print() it"},
        {"print(6 * 7)", "{\"stdout\":\"42\\n\"}", NULL},
        {"raise SystemExit(7)", "{\"success\":false,\"returncode\":7}", NULL},
        {"open('script.py', 'w')",
         "{\"success\":false,\"returncode\":1,\"stderr\":\"OSError: [Errno 16] Device or resource "
         "busy: 'script.py'\\n\"}",
         "script.py is the program that runs"},
        {"open('a.py', 'w')",
         "{\"success\":false,\"returncode\":1,\"stderr\":\"OSError: [Errno 16] Device or resource "
         "busy: 'a.py'\\n\"}",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *hints = hints_of(cases[i].code, cases[i].changes);

        if (cases[i].said)
            assert_non_null(strstr(hints, cases[i].said));
        else
            assert_string_equal(hints, "");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints_are_said_when_they_are_certain),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
