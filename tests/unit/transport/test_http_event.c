#include "server/transport/http/http_event.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define TEXT(LITERAL) LITERAL, sizeof(LITERAL) - 1

static const struct {
    struct http_event event;
    const char *written;
} cases[] = {
    {{.data = TEXT("{}")}, "data: {}\n\n"},
    {{.id = "1:2", .name = "message", .data = TEXT("{}")}, "event: message\nid: 1:2\ndata: {}\n\n"},
    {{.id = "1:0", .data = TEXT(""), .retry = 1500}, "id: 1:0\nretry: 1500\ndata: \n\n"},
    {{.data = TEXT("a\nb\rc\r\nd")}, "data: a\ndata: b\ndata: c\ndata: d\n\n"},
    {{.data = TEXT("\n")}, "data: \ndata: \n\n"},
    {{.data = TEXT("\r\n\r\n")}, "data: \ndata: \ndata: \n\n"},
    {{.data = TEXT("a\n\rb")}, "data: a\ndata: \ndata: b\n\n"},
    {{.data = TEXT("a\r")}, "data: a\ndata: \n\n"},
    {{.data = TEXT("x\n\nevent: forged\ndata: y")},
     "data: x\ndata: \ndata: event: forged\ndata: data: y\n\n"},
};

static void test_no_byte_of_the_data_begins_a_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;
        struct buffer out;

        buffer_init(&out, 1000);
        assert_int_equal(http_event_append(&cases[i].event, &out, &err), 0);
        assert_int_equal(buffer_length(&out), strlen(cases[i].written));
        assert_memory_equal(buffer_bytes(&out), cases[i].written, strlen(cases[i].written));
        assert_int_equal(http_event_length(&cases[i].event), strlen(cases[i].written));
        buffer_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_byte_of_the_data_begins_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
