#include "base/pattern.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { BUDGET = 100000 };

static bool matches(const char *expression, const char *text)
{
    struct error err = ERROR_INIT;
    struct pattern *pattern = pattern_new(expression, strlen(expression), &err);
    size_t budget = BUDGET;
    bool found;

    if (!pattern)
        fail_msg("%s: %s", expression, err.message);
    found = pattern_matches(pattern, text, strlen(text), &budget);
    assert_true(budget > 0);
    pattern_free(pattern);
    return found;
}

static void test_expressions_mean_what_they_mean_in_ecma_262(void **state)
{
    static const struct {
        const char *expression;
        const char *text;
        bool found;
    } cases[] = {
        {"", "", true},
        {"b", "abc", true},
        {"^b", "abc", false},
        {"^a*$", "aaa", true},
        {"a$", "a\n", false},
        {"^.$", "\xF0\x9F\x90\x8D", true},
        {"^.$", "\n", false},
        {"^.$", "\r", false},
        {"^.$", "\xE2\x80\xA8", false}, /* U+2028 */
        {"^.$", "\x0b", true},
        {"^\\d$", "7", true},
        {"^\\d$", "\xE0\xA5\xAF", false}, /* DEVANAGARI DIGIT NINE */
        {"^\\w$", "\xC3\xA9", false},
        {"^\\W$", "\xC3\xA9", true},
        {"^\\s$", "\xC2\xA0", true},
        {"^\\s$", "\xEF\xBB\xBF", true},
        {"^\\S$", "\xE2\x80\xA9", false},
        {"^[\\s\\d]+$", "1\t\xE3\x80\x80", true},
        {"^[\\v]$", "\x0b", true},
        {"^\\v$", "\n", false},
        {"^[\\b]$", "\b", true},
        {"a\\b", "a b", true},
        {"^\\cJ$", "\n", true},
        {"^\\x41\\u0042\\u{43}$", "ABC", true},
        {"^\\uD83D\\uDC0D$", "\xF0\x9F\x90\x8D", true},
        {"^[\\u{1F40D}]$", "\xF0\x9F\x90\x8D", true},
        {"^\\p{Letter}+$", "H\xCF\x80", true},
        {"^\\p{Letter}+$", "12", false},
        {"^\\p{gc=Lu}\\P{L}\\p{Script=Greek}$", "A1\xCF\x80", true},
        {"^\\p{General_Category=Decimal_Number}[\\p{Lu}]$", "\xE0\xA5\xAFX", true},
        {"^[[:alpha:]]$", "a]", true}, /* one of "[", ":", "a" ..., then "]" */
        {"^[a-z&&[b]$", "&", true},
        {"^[^]$", "\n", true},
        {"[]", "a", false},
        {"^(?<year>\\d{4})-\\k<year>$", "2026-2026", true},
        {"^(a)?\\1b$", "b", true},
        {"(?<!a)b", "ab", false},
        {"(?<=a)b(?!c)(?=d)(?:d)", "abd", true},
        {"^a+?b*?c??$", "aabbc", true},
        {"^a{2,3}?$", "aa", true},
        {"^\\$\\^\\/\\-\\.$", "$^/-.", true},
        {"^[\\]\\[\\-]+$", "[-]", true},
        {"^\\0$", "", false},
        {"^\xC3\xA4$", "\xC3\xA4", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (matches(cases[i].expression, cases[i].text) != cases[i].found)
            fail_msg("\"%s\" in \"%s\"", cases[i].expression, cases[i].text);
}

static void test_what_is_not_ecma_262_is_refused(void **state)
{
    static const char *const expressions[] = {
        "\\A",          "a\\Z",   "\\z",      "\\G",     "\\K",          "\\R",    "\\X",   "\\h",
        "\\a",          "\\e",    "\\Qa\\E",  "\\C",     "\\N",          "(?i)a",  "(?>a)", "(?#a)",
        "(?P<a>b)",     "(?R)",   "(?1)",     "(*UTF)a", "a++",          "a*+",    "a{2}+", "a?+",
        "\\x4",         "\\u004", "\\x4\x11", "\\u{}",   "\\u{1234567}", "\\c1",   "\\pL",  "\\p{",
        "\\p{Nothing}", "[\\B]",  "[\\S]",    "(",       "a)",           "[a",     "a\\",   "*",
        "\\ud800",      "\\_",    "(?'a'b)",  "\\g1",    "[\\1]",        "(?C1)a", "(?|a)",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(expressions); i++) {
        struct error err = ERROR_INIT;

        if (pattern_new(expressions[i], strlen(expressions[i]), &err))
            fail_msg("\"%s\" is accepted", expressions[i]);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
}

static void test_what_is_refused_is_shown(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_null(pattern_new("ab\\Ac", 5, &err));
    assert_string_equal(err.message, "\"\\A\" is not an expression of ECMA-262");
}

static void test_an_expression_of_any_length_is_not_taken(void **state)
{
    AUTO_FREE char *expression = memory_new(20001, 1);
    struct error err = ERROR_INIT;

    (void)state;
    memset(expression, 'a', 20000);
    assert_null(pattern_new(expression, 20000, &err));
    assert_string_equal(err.message, "is longer than 16384 bytes");
}

static void test_nul_is_a_character(void **state)
{
    struct error err = ERROR_INIT;
    struct pattern *pattern = pattern_new("a\0b\\0", 5, &err);
    size_t budget = BUDGET;

    (void)state;
    assert_non_null(pattern);
    assert_true(pattern_matches(pattern, "a\0b\0", 4, &budget));
    assert_false(pattern_matches(pattern, "a\0b", 3, &budget));
    pattern_free(pattern);
}

/* Each takes longer than a second when nothing stops it. */
static void test_no_search_takes_more_than_its_budget(void **state)
{
    static const char *const expressions[] = {"^(a+)+$",    "a*[bd]",     "(a|a)*[bd]",
                                              "a*a*a*[bd]", "(?=.*[bd])", "(a*)\\1[bd]"};
    AUTO_FREE char *text = memory_new(1000001, 1);

    (void)state;
    memset(text, 'a', 999999);
    text[999999] = 'c';
    for (size_t i = 0; i < ARRAY_SIZE(expressions); i++) {
        struct error err = ERROR_INIT;
        struct pattern *pattern = pattern_new(expressions[i], strlen(expressions[i]), &err);
        size_t budget = BUDGET;

        assert_non_null(pattern);
        assert_false(pattern_matches(pattern, text, 1000000, &budget));
        assert_int_equal(budget, 0);
        pattern_free(pattern);
    }
}

static void test_scanning_a_long_text_costs_little(void **state)
{
    AUTO_FREE char *text = memory_new(1000001, 1);
    struct error err = ERROR_INIT;
    struct pattern *pattern = pattern_new("^[a-z]*$", 8, &err);
    size_t budget = BUDGET;

    (void)state;
    memset(text, 'a', 1000000);
    assert_true(pattern_matches(pattern, text, 1000000, &budget));
    pattern_free(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions_mean_what_they_mean_in_ecma_262),
        cmocka_unit_test(test_what_is_not_ecma_262_is_refused),
        cmocka_unit_test(test_what_is_refused_is_shown),
        cmocka_unit_test(test_an_expression_of_any_length_is_not_taken),
        cmocka_unit_test(test_nul_is_a_character),
        cmocka_unit_test(test_no_search_takes_more_than_its_budget),
        cmocka_unit_test(test_scanning_a_long_text_costs_little),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
