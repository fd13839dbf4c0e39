#include "server/transport/http/http_gate.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static const struct {
    const char *value;
    bool json;
    bool events;
} accepted[] = {
    {NULL, true, true},
    {"", false, false},
    {"*/*", true, true},
    {"application/json, text/event-stream", true, true},
    {"text/event-stream,application/json", true, true},
    {"Application/JSON", true, false},
    {"application/json;q=0.9 , text/event-stream; q=0.5", true, true},
    {"application/json ; charset=utf-8", true, false},
    {"application/*", true, false},
    {"text/*, */*;q=0.1", true, true},
    {"text/*", false, true},
    {"text/html", false, false},
    {"application/jsonx", false, false},
    {"application/json-patch+json", false, false},
    {"xapplication/json", false, false},
    {"text/html, , application/json", true, false},
    {",,,", false, false},
    {"*", false, false},
};

static void test_finds_the_types_that_are_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
        print_message("%s\n", accepted[i].value ? accepted[i].value : "none");
        assert_int_equal(http_accept_lists(accepted[i].value, "application/json"),
                         accepted[i].json);
        assert_int_equal(http_accept_lists(accepted[i].value, "text/event-stream"),
                         accepted[i].events);
    }
}

static const struct {
    const char *value;
    bool json;
} types[] = {
    {"application/json", true},
    {"APPLICATION/json", true},
    {"application/json; charset=utf-8", true},
    {"application/json ;charset=utf-8", true},
    {"", false},
    {"text/plain", false},
    {"application/jsonx", false},
    {"application/jso", false},
    {"application/json, text/plain", false},
    {"application/json text/plain", false},
    {"multipart/form-data; boundary=application/json", false},
    {"application/x-www-form-urlencoded", false},
};

static void test_knows_a_type_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        print_message("%s\n", types[i].value);
        assert_int_equal(http_type_is(types[i].value, "application/json"), types[i].json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_types_that_are_listed),
        cmocka_unit_test(test_knows_a_type_by_its_name),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
