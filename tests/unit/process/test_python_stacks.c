#include "environments/process/python_stacks.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FIRST                   "Stack (most recent call first):\n"
#define THREAD                  "Thread 0x00007f2a8c1fe6c0 (most recent call first):\n"
#define CURRENT                 "Current thread 0x00007f2a8d4e9040 (most recent call first):\n"
#define FRAME(NAME, LINE, FUNC) "  File \"" NAME "\", line " #LINE " in " FUNC "\n"
#define SHOWN(NAME, LINE, FUNC)                                                                    \
    "{\"file\": \"" NAME "\", \"line\": " #LINE ", \"function\": \"" FUNC "\"}"
#define MAIN(FRAMES)          "{\"main\": true, \"threads\": 1, \"frames\": [" FRAMES "]}"
#define OTHERS(COUNT, FRAMES) "{\"main\": false, \"threads\": " #COUNT ", \"frames\": [" FRAMES "]}"
#define F                     FRAME("/w/script.py", 3, "f")
#define G                     FRAME("/w/script.py", 5, "<module>")
#define SHOWN_F               SHOWN("/w/script.py", 3, "f")
#define SHOWN_G               SHOWN("/w/script.py", 5, "<module>")

static void check_stacks(const char *text, const char *expected)
{
    AUTO_JSON json_t *stacks = python_stacks_read(text, strlen(text));
    AUTO_FREE char *shown = stacks ? json_dumps(stacks, 0) : NULL;

    if (!expected)
        assert_null(stacks);
    else
        assert_string_equal(shown, expected);
}

static void test_what_python_writes_is_read(void **state)
{
    (void)state;
    check_stacks(FIRST F G, "[" MAIN(SHOWN_F ", " SHOWN_G) "]");
    check_stacks(FIRST F THREAD G "\n" CURRENT F, "[" MAIN(SHOWN_F) ", " OTHERS(1, SHOWN_G) "]");
    check_stacks(FIRST F THREAD G THREAD F THREAD G,
                 "[" MAIN(SHOWN_F) ", " OTHERS(2, SHOWN_G) ", " OTHERS(1, SHOWN_F) "]");
    check_stacks(FIRST FRAME("/w/a in b.py", 7, "f"), "[" MAIN(SHOWN("/w/a in b.py", 7, "f")) "]");
}

static void test_what_is_no_frame_is_left_out(void **state)
{
    (void)state;
    check_stacks("", NULL);
    check_stacks(F G, NULL);
    check_stacks(FIRST "  <no Python frame>\n", NULL);
    check_stacks(FIRST "  File ???, line 3 in f\n" F "  ...\n", "[" MAIN(SHOWN_F) "]");
    check_stacks(FIRST FRAME("/proc/self/fd/100/sitecustomize.py", 3, "g") F,
                 "[" MAIN(SHOWN_F) "]");
    check_stacks(FIRST FRAME("a", 0, "f") FRAME("a", 99999999999, "f") F, "[" MAIN(SHOWN_F) "]");
    check_stacks(FIRST "  File \"a\"\n  File \"a\", line 3\n  File \"\n" F, "[" MAIN(SHOWN_F) "]");
}

static void test_a_thread_that_is_cut_off_is_left_out_but_for_the_first(void **state)
{
    (void)state;
    check_stacks(FIRST F THREAD G "  File \"/w/scr", "[" MAIN(SHOWN_F) "]");
    check_stacks(FIRST F "  File \"/w/scr", "[" MAIN(SHOWN_F) "]");
}

static void test_only_the_first_is_the_main_one(void **state)
{
    (void)state;
    check_stacks(FIRST F FIRST G, "[" MAIN(SHOWN_F) ", " OTHERS(1, SHOWN_G) "]");
}

static void test_what_a_terminal_would_obey_is_not_passed_on(void **state)
{
    (void)state;
    check_stacks(FIRST FRAME("a\x1b[2J\xff", 3, "\r\x80"), "[" MAIN(SHOWN("a?[2J?", 3, "??")) "]");
}

static void test_there_are_bounds(void **state)
{
    AUTO_FREE char *text = memory_copy_string(FIRST);
    AUTO_JSON json_t *stacks = NULL;

    (void)state;
    for (int i = 0; i < 200; i++) {
        char *longer = memory_format("%s%s  File \"%0400d\", line %d in f\n", text,
                                     i < 100 ? "" : THREAD, 0, i + 1);

        free(text);
        text = longer;
    }
    stacks = python_stacks_read(text, strlen(text));
    assert_int_equal(json_array_size(stacks), PYTHON_STACKS);
    assert_int_equal(json_array_size(json_object_get(json_array_get(stacks, 0), "frames")),
                     PYTHON_STACK_FRAMES);
    assert_int_equal(
        json_string_length(json_object_get(
            json_array_get(json_object_get(json_array_get(stacks, 1), "frames"), 0), "file")),
        PYTHON_STACK_NAME_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_python_writes_is_read),
        cmocka_unit_test(test_what_is_no_frame_is_left_out),
        cmocka_unit_test(test_a_thread_that_is_cut_off_is_left_out_but_for_the_first),
        cmocka_unit_test(test_only_the_first_is_the_main_one),
        cmocka_unit_test(test_what_a_terminal_would_obey_is_not_passed_on),
        cmocka_unit_test(test_there_are_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
