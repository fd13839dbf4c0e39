#include "server/tools/trace.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN   "00f067aa0ba902b7"
#define PARENT "00-" TRACE "-" SPAN "-01"

static void test_a_child_has_a_span_of_its_own(void **state)
{
    struct trace one;
    struct trace two;
    char id[TRACE_ID_DIGITS + 1];

    (void)state;
    assert_true(trace_follow(&one, PARENT, "a=1,b@c=2"));
    assert_true(trace_follow(&two, PARENT, NULL));
    assert_int_equal(strncmp(one.parent, "00-" TRACE "-", 36), 0);
    assert_string_equal(one.parent + 52, "-01");
    assert_int_not_equal(strncmp(one.parent + 36, SPAN, 16), 0);
    assert_string_not_equal(one.parent, two.parent);
    assert_string_equal(one.state, "a=1,b@c=2");
    assert_string_equal(two.state, "");
    trace_read_id(one.parent, id);
    assert_string_equal(id, TRACE);
}

static const struct {
    const char *parent;
    const char *flags; /* of the child; NULL: it is not valid */
} parents[] = {
    {PARENT, "01"},
    {"00-" TRACE "-" SPAN "-00", "00"},
    {"00-" TRACE "-" SPAN "-ff", "01"},
    {"00-" TRACE "-" SPAN "-02", "00"},
    {"cc-" TRACE "-" SPAN "-01", "01"},
    {"cc-" TRACE "-" SPAN "-01-what-the-future-will-be-like", "01"},
    {"cc-" TRACE "-" SPAN "-01.what-the-future-will-be-like", NULL},
    {"00-" TRACE "-" SPAN "-01-more", NULL},
    {"00-" TRACE "-" SPAN "-01 ", NULL},
    {"ff-" TRACE "-" SPAN "-01", NULL},
    {"00-00000000000000000000000000000000-" SPAN "-01", NULL},
    {"00-" TRACE "-0000000000000000-01", NULL},
    {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", NULL},
    {"00-" TRACE "-" SPAN "-0", NULL},
    {"00-" TRACE "-" SPAN "-0g", NULL},
    {"00_" TRACE "-" SPAN "-01", NULL},
    {"00-" TRACE "_" SPAN "-01", NULL},
    {"00-" TRACE "-" SPAN "_01", NULL},
    {"0g-" TRACE "-" SPAN "-01", NULL},
    {"", NULL},
};

static void test_parents_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
        struct trace trace;

        if (trace_follow(&trace, parents[i].parent, "a=1") != (parents[i].flags != NULL))
            fail_msg("%s", parents[i].parent);
        assert_string_equal(parents[i].flags ? trace.parent + 53 : trace.parent,
                            parents[i].flags ? parents[i].flags : "");
        assert_string_equal(trace.state, parents[i].flags ? "a=1" : "");
    }
}

static const struct {
    const char *state;
    bool is_valid;
} states[] = {
    {"rojo=00f067aa0ba902b7", true},
    {"rojo=1,congo=t61 rcWkgMz:E", true},
    {" a=1 ,\tb=2 , ,c=3", true},
    {"1a-b_c*d/e=!", true},
    {"tenant@system=1", true},
    {"a", false},
    {"=1", false},
    {"a=", false},
    {"A=1", false},
    {"a=1=2", false},
    {"a=1;b\n=2", false},
    {"a=\x7f", false},
    {"a=\xc3\xa4", false},
    {"@a=1", false},
};

static void test_states_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
        struct trace trace;

        assert_true(trace_follow(&trace, PARENT, states[i].state));
        assert_string_equal(trace.state, states[i].is_valid ? states[i].state : "");
    }
}

static void test_a_state_has_its_limits(void **state)
{
    char text[600] = {0};
    struct trace trace;

    (void)state;
    snprintf(text, sizeof text, "a=%0255d,b=%0250d,", 1, 1);
    assert_int_equal(strlen(text), 511);
    assert_true(trace_follow(&trace, PARENT, text));
    assert_string_equal(trace.state, text);
    strcat(text, "  ");
    assert_true(trace_follow(&trace, PARENT, text));
    assert_string_equal(trace.state, "");

    memset(text, 0, sizeof text);
    for (int i = 0; i < 32; i++)
        strcat(text, i ? ",a=1" : "a=1");
    assert_true(trace_follow(&trace, PARENT, text));
    assert_string_equal(trace.state, text);
    strcat(text, ",a=1");
    assert_true(trace_follow(&trace, PARENT, text));
    assert_string_equal(trace.state, "");
}

static void test_without_a_parent_there_is_no_trace(void **state)
{
    struct trace trace;

    (void)state;
    assert_false(trace_follow(&trace, NULL, "a=1"));
    assert_string_equal(trace.parent, "");
    assert_string_equal(trace.state, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_child_has_a_span_of_its_own),
        cmocka_unit_test(test_parents_are_checked),
        cmocka_unit_test(test_states_are_checked),
        cmocka_unit_test(test_a_state_has_its_limits),
        cmocka_unit_test(test_without_a_parent_there_is_no_trace),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
