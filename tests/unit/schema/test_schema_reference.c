#include "base/cleanup.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

/* RFC 3986, 5.4, without fragments: those are looked at elsewhere. */
static void test_references_are_resolved_as_in_the_examples_of_the_rfc(void **state)
{
    static const char base[] = "http://a/b/c/d;p?q";
    static const struct {
        const char *reference;
        const char *uri;
    } cases[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"http://x/y/../z", "http://x/z"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *uri = schema_uri_resolve(base, cases[i].reference);

        assert_string_equal(uri, cases[i].uri);
    }
}

static void test_a_base_may_be_nothing_or_no_path(void **state)
{
    static const struct {
        const char *base;
        const char *reference;
        const char *uri;
    } cases[] = {
        {"", "", ""},
        {"", "#a", ""},
        {"", "a/b", "a/b"},
        {"a/b", "c", "a/c"},
        {"http://a", "b", "http://a/b"},
        {"urn:uuid:1", "#a", "urn:uuid:1"},
        {"http://a/b", "urn:c", "urn:c"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *uri = schema_uri_resolve(cases[i].base, cases[i].reference);

        assert_string_equal(uri, cases[i].uri);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references_are_resolved_as_in_the_examples_of_the_rfc),
        cmocka_unit_test(test_a_base_may_be_nothing_or_no_path),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
