#include "server/tools/uri_template.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void what_is_no_template_is_refused(void **state)
{
    static const char *const BAD[] = {
        "a:b",      "a:{",       "a:{}",      "a:{b",       "a:b}",       "a:{b}}",
        "a:{b}{c}", "a:{b}/{b}", "a:{#b}",    "a:{b*}",     "a:{b,c}",    "a:{{b}}",
        "a:{b c}",  "a:{+}",     "a:{+b}{c}", "a:{+b}/{b}", "a:{?}",      "a:{?b",
        "a:{?b,}",  "a:{?b}c",   "a:{?b,b}",  "a:{b}{?b}",  "a:{?b}{?c}", "a:{?b c}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
        struct error err = ERROR_INIT;

        assert_int_equal(uri_template_check(BAD[i], &err), -1);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
}

static void variables_get_what_stands_in_their_places(void **state)
{
    static const struct {
        const char *template;
        const char *uri;
        const char *values; /* or NULL */
    } CASES[] = {
        {"a:{b}", "a:x", "{\"b\":\"x\"}"},
        {"a:{b}", "a:", NULL},
        {"a:{b}", "A:x", NULL},
        {"a:{b}", "a", NULL},
        {"a:{b}", "a:x/y", NULL},
        {"a:{b}", "a:x%2Fy%c3%A4", "{\"b\":\"x/y\xc3\xa4\"}"},
        {"a:{b}", "a:%", NULL},
        {"a:{b}", "a:%4", NULL},
        {"a:{b}", "a:%4g", NULL},
        {"a:{b}", "a:%00", NULL},
        {"a:{b}", "a:%ff", NULL},
        {"a:{b}/c", "a:x/c", "{\"b\":\"x\"}"},
        {"a:{b}/c", "a:x/cc", NULL},
        {"a:{b}/c", "a:x/", NULL},
        {"a:{b}/c", "a:/c", NULL},
        {"a:{b}.txt", "a:x.txt.txt", "{\"b\":\"x.txt\"}"},
        {"a:{b}-{c}", "a:x-y-z", "{\"b\":\"x\",\"c\":\"y-z\"}"},
        {"a:{b}-{c}", "a:-x-y", "{\"b\":\"-x\",\"c\":\"y\"}"},
        {"a:{b}-{c}/d/{e_1}", "a:x-y/d/z", "{\"b\":\"x\",\"c\":\"y\",\"e_1\":\"z\"}"},
        {"a:{b}/{c}", "a:x//y", NULL},
        {"{b}:c", "a:c", "{\"b\":\"a\"}"},
        {"a:{+b}", "a:x/y/z", "{\"b\":\"x/y/z\"}"},
        {"a:{+b}", "a:", NULL},
        {"a:{b}/{+c}", "a:x/y/z", "{\"b\":\"x\",\"c\":\"y/z\"}"},
        {"a:{b}/{+c}", "a:/y/z", NULL},
        {"a:{+b}.txt", "a:x/y.txt", "{\"b\":\"x/y\"}"},
        {"a:{b}{?c,d}", "a:x", "{\"b\":\"x\"}"},
        {"a:{b}{?c,d}", "a:x?d=1", "{\"b\":\"x\",\"d\":\"1\"}"},
        {"a:{b}{?c,d}", "a:x?d=1&c=%3F", "{\"b\":\"x\",\"c\":\"?\",\"d\":\"1\"}"},
        {"a:{b}{?c,d}", "a:x?c=", "{\"b\":\"x\",\"c\":\"\"}"},
        {"a:{b}{?c,d}", "a:x?c=1&c=2", NULL},
        {"a:{b}{?c,d}", "a:x?b=1", NULL},
        {"a:{b}{?c,d}", "a:x?e=1", NULL},
        {"a:{b}{?c,d}", "a:x?c", NULL},
        {"a:{b}{?c,d}", "a:x?", NULL},
        {"a:{b}{?c,d}", "a:x?c=1&", NULL},
        {"a:{b}{?c,d}", "a:x?c=%ff", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct error err = ERROR_INIT;
        AUTO_JSON json_t *expected = CASES[i].values ? json_loads(CASES[i].values, 0, NULL) : NULL;
        AUTO_JSON json_t *values = NULL;

        assert_int_equal(uri_template_check(CASES[i].template, &err), 0);
        values = uri_template_match(CASES[i].template, CASES[i].uri);
        if (expected ? !json_equal(values, expected) : values != NULL)
            fail_msg("%s in %s", CASES[i].template, CASES[i].uri);
    }
}

static void variables_are_known_by_their_names(void **state)
{
    (void)state;
    assert_true(uri_template_has("a:{bc}/{d}", "bc"));
    assert_true(uri_template_has("a:{bc}/{d}", "d"));
    assert_false(uri_template_has("a:{bc}/{d}", "b"));
    assert_false(uri_template_has("a:{bc}/{d}", "bcd"));
    assert_false(uri_template_has("a:{bc}/{d}", ""));
    assert_false(uri_template_has("a:b", "b"));
    assert_true(uri_template_has("a:{+b}{?c,d}", "b"));
    assert_true(uri_template_has("a:{+b}{?c,d}", "d"));
    assert_false(uri_template_has("a:{+b}{?c,d}", "+b"));
    assert_false(uri_template_has("a:{+b}{?c,d}", "c,d"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_template_is_refused),
        cmocka_unit_test(variables_get_what_stands_in_their_places),
        cmocka_unit_test(variables_are_known_by_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
