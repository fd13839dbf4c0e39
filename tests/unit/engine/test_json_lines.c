#include "environments/engine/json_lines.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct listener {
    struct json_lines lines;
    char seen[64];
};

static void on_line(struct json_lines *lines, const json_t *value)
{
    struct listener *listener = CONTAINER_OF(lines, struct listener, lines);

    strncat(listener->seen, json_object_get_string(value, "a"), 8);
}

static int feed(struct listener *listener, const char *text, size_t first)
{
    struct error err = ERROR_INIT;

    listener->seen[0] = '\0';
    listener->lines.line = on_line;
    json_lines_init(&listener->lines);
    return json_lines_feed(&listener->lines, text, first, &err) < 0 ||
                   json_lines_feed(&listener->lines, text + first, strlen(text) - first, &err) < 0
               ? -1
               : json_lines_end(&listener->lines, &err);
}

static void test_each_line_is_told_however_it_is_split(void **state)
{
    static const char text[] = "{\"a\":\"1\"}\r\n\r\n{\"a\":\"2\"}\n{\"a\":\"3\"}";

    (void)state;
    for (size_t first = 0; first < sizeof text; first++) {
        struct listener listener;

        assert_int_equal(feed(&listener, text, first), 0);
        assert_string_equal(listener.seen, "123");
        json_lines_deinit(&listener.lines);
    }
}

static void test_what_is_no_object_is_an_error(void **state)
{
    static const char *const texts[] = {"x\n", "[]\n", "{\"a\":\n\"1\"}", "{\"a\":\"1\"}{}\n", "{"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct listener listener;

        assert_int_equal(feed(&listener, texts[i], 0), -1);
        json_lines_deinit(&listener.lines);
    }
}

static void test_endless_line_is_an_error(void **state)
{
    char *text = memory_new(JSON_LINE_BYTES + 2, 1);
    struct listener listener;

    (void)state;
    memset(text, ' ', JSON_LINE_BYTES);
    assert_int_equal(feed(&listener, text, 0), 0);
    json_lines_deinit(&listener.lines);
    text[JSON_LINE_BYTES] = ' ';
    assert_int_equal(feed(&listener, text, 0), -1);
    json_lines_deinit(&listener.lines);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_line_is_told_however_it_is_split),
        cmocka_unit_test(test_what_is_no_object_is_an_error),
        cmocka_unit_test(test_endless_line_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
