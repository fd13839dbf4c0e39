#include "environments/engine/dockerignore.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct dockerignore *new_rules(const char *text)
{
    struct error err = ERROR_INIT;
    struct dockerignore *ignore = dockerignore_new(text, strlen(text), &err);

    if (!ignore)
        fail_msg("%s: %s", text, err.message);
    return ignore;
}

static void test_rules(void **state)
{
    static const struct {
        const char *rules;
        const char *path;
        bool matches;
    } rules[] = {
        {"", "a", false},
        {"a", "a", true},
        {"a", "ab", false},
        {"a", "b/a", false},
        {"a", "a/b/c", true},
        {"/a", "a", true},
        {"./a/", "a/b", true},
        {"a//b/../c", "a/c", true},
        {"  a\t\r", "a", true},
        {"# a\n#a", "a", false},
        {" #a", "#a", true},
        {"\xEF\xBB\xBF# a\nb", "b", true},
        {".", "a", false},
        {"*", "a/b", true},
        {"*", "", true},
        {"*.pyc", "a.pyc", true},
        {"*.pyc", "a/b.pyc", false},
        {"*/b", "a/b", true},
        {"*/b", "a/a/b", false},
        {"a*", "a/b", true},
        {"a*c", "a/c", false},
        {"?", "a", true},
        {"?", "\xC3\xBC", true},
        {"?", "ab", false},
        {"a?b", "a/b", false},
        {"**/*.pyc", "a.pyc", true},
        {"**/*.pyc", "a/b/c.pyc", true},
        {"**/*.pyc", "a/b/c.py", false},
        {"**/b", "ab", false},
        {"**/b/c", "x/b/b/c/d", true},
        {"a/**", "a", false},
        {"a/**", "a/b/c", true},
        {"a/**/c", "a/c", true},
        {"a/**/c", "a/b/b/c", true},
        {"a/**/c", "a/bc", false},
        {"**", "a/b", true},
        {"a**", "a/b", true},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[^a-c]x", "dx", true},
        {"[^a]", "a", false},
        {"a[^b]c", "a/c", false},
        {"[a\\]]", "]", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\!a", "!a", true},
        {"a\n!a/b", "a/b", false},
        {"a\n!a/b", "a/b/c", false},
        {"a\n!a/b", "a/c", true},
        {"!a/b\na", "a/b", true},
        {"*\n!*.md\nx.md", "y.md", false},
        {"*\n!*.md\nx.md", "x.md", true},
        {"! a\n", "a", false},
        {"../a", "a", false},
        {"a.b$(c)+", "a.b$(c)+", true},
        {"a.b", "axb", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct dockerignore *ignore = new_rules(rules[i].rules);

        if (dockerignore_matches(ignore, rules[i].path) != rules[i].matches)
            fail_msg("%s: %s", rules[i].rules, rules[i].path);
        dockerignore_free(ignore);
    }
}

static void test_directories_that_must_be_looked_into(void **state)
{
    static const struct {
        const char *rules;
        const char *path;
        bool may;
    } rules[] = {
        {"a", "a", false},          {"a\n!b", "a", false},       {"a\n!a/b", "a", true},
        {"a\n!a/b/c", "a/b", true}, {"a\n!a/b/c", "a/c", false}, {"a\n!**/x", "a", true},
        {"a\n!*", "a", true},       {"a\n!*/b", "a", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct dockerignore *ignore = new_rules(rules[i].rules);

        if (dockerignore_may_take_back(ignore, rules[i].path) != rules[i].may)
            fail_msg("%s: %s", rules[i].rules, rules[i].path);
        dockerignore_free(ignore);
    }
}

static void test_what_is_no_pattern_is_refused_with_its_line(void **state)
{
    static const char *const texts[] = {"a\n\n[", "#\na\n[a",  "a\nb\n[a-",
                                        "\n\n!",  "\n\n  !  ", "a\nb\n\\"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct error err = ERROR_INIT;

        assert_null(dockerignore_new(texts[i], strlen(texts[i]), &err));
        assert_int_equal(err.code, ERROR_CONFIG);
        assert_non_null(strstr(err.message, ".dockerignore: line 3: "));
    }
}

static void test_large_file_is_refused(void **state)
{
    char *text = memory_new(DOCKERIGNORE_BYTES + 1, 1);
    struct error err = ERROR_INIT;

    (void)state;
    memset(text, '\n', DOCKERIGNORE_BYTES + 1);
    assert_null(dockerignore_new(text, DOCKERIGNORE_BYTES + 1, &err));
    assert_int_equal(err.code, ERROR_LIMIT);

    free(text);
}

/* Backtracking would take longer than the universe has. */
static void test_no_pattern_takes_long(void **state)
{
    char path[512];
    struct dockerignore *ignore =
        new_rules("**/a*a*a*a*a*a*a*a*a*a*a*a*a*a*/**/a*a*a*a*a*a*a*a*a*a*a*a*b");

    (void)state;
    memset(path, 'a', sizeof path);
    for (size_t i = 40; i < sizeof path; i += 40)
        path[i] = '/';
    path[sizeof path - 1] = '\0';
    assert_false(dockerignore_matches(ignore, path));
    dockerignore_free(ignore);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_directories_that_must_be_looked_into),
        cmocka_unit_test(test_what_is_no_pattern_is_refused_with_its_line),
        cmocka_unit_test(test_large_file_is_refused),
        cmocka_unit_test(test_no_pattern_takes_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
