#include "environments/callers/image_reference.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define A64    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST "sha256:" A64
#define OTHER  "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct {
    const char *text;
    const char *full; /* NULL: it is no name of an image */
} names[] = {
    {"python", "docker.io/library/python:latest"},
    {"python:3.11-slim", "docker.io/library/python:3.11-slim"},
    {"library/python:3", "docker.io/library/python:3"},
    {"docker.io/python:3", "docker.io/library/python:3"},
    {"docker.io/library/python:3", "docker.io/library/python:3"},
    {"index.docker.io/python:3", "docker.io/library/python:3"},
    {"evil/python:3", "docker.io/evil/python:3"},
    {"localhost/python", "localhost/python:latest"},
    {"localhost:5000/python", "localhost:5000/python:latest"},
    {"python:5000/x", "python:5000/x:latest"},
    {"python.example/x", "python.example/x:latest"},
    {"registry.example:5000/lab/python:3.12", "registry.example:5000/lab/python:3.12"},
    {"Python/x", "Python/x:latest"}, /* upper case makes it a host to Docker */
    {"python@" DIGEST, "docker.io/library/python@" DIGEST},
    {"python:3.11@" DIGEST, "docker.io/library/python@" DIGEST},
    {"", NULL},
    {"/python", NULL},
    {"python/", NULL},
    {"a//b", NULL},
    {"docker.io/", NULL},
    {"Python", NULL},
    {"python:", NULL},
    {"python:a:b", NULL},
    {"python:-x", NULL},
    {"python:*", NULL},
    {"*", NULL},
    {"python@", NULL},
    {"python@sha256:abc", NULL},
    {"python@sha512:" A64, NULL},
    {"python@" DIGEST "0", NULL},
    {"python@" DIGEST "@" DIGEST, NULL},
    {"py thon", NULL},
    {"python\n", NULL},
    {"python:3\t", NULL},
    {"-v/x:/y", NULL},
    {"https://docker.io/python", NULL},
    {"p\xC3\xBFthon", NULL},
};

static void test_a_name_is_written_out_in_full(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct image_reference reference;
        struct error err = ERROR_INIT;
        int outcome = image_reference_parse(&reference, names[i].text, &err);
        AUTO_FREE char *full = outcome == 0 ? image_reference_text(&reference) : NULL;

        if ((outcome == 0) != (names[i].full != NULL))
            fail_msg("%s is taken for %s", names[i].text, full);
        if (full)
            assert_string_equal(full, names[i].full);
        image_reference_deinit(&reference);
    }
}

static void test_a_name_of_any_length_is_refused_in_time(void **state)
{
    char text[4096];
    struct image_reference reference;
    struct error err = ERROR_INIT;

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(image_reference_parse(&reference, text, &err), -1);
}

static const struct {
    const char *pattern;
    const char *yes[8];
    const char *no[16];
} patterns[] = {
    {"python:*",
     {"python", "python:3.11", "docker.io/library/python:3", "library/python:3",
      "index.docker.io/library/python:3", "python@" DIGEST, "python:3.11@" DIGEST},
     {"evil/python:3", "docker.io/evil/python:3", "python/evil:3", "python:5000/evil:1",
      "python.example/evil", "localhost/python:3", "quay.io/library/python:3", "pythonx:3",
      "python-evil", "evil.io/docker.io/library/python:3", "a.b/library/python:3"}},
    {"docker.io/library/python:*", {"python:3"}, {"evil/python:3"}},
    {"python", {"python", "python:latest"}, {"python:3", "python@" DIGEST}},
    {"python:3.11*",
     {"python:3.11", "python:3.11-slim"},
     {"python:3.1", "python:3.12", "python", "python@" DIGEST, "python:3.11@" DIGEST}},
    {"python:3.11@" DIGEST,
     {"python@" DIGEST, "python:3.11@" DIGEST, "python:3.9@" DIGEST},
     {"python:3.11", "python@" OTHER, "evil/python@" DIGEST}},
    {"python@*", {"python@" DIGEST}, {"python:3"}},
    {"*-slim", {"python-slim"}, {"python:3-slim", "python-slim:3", "evil/x-slim"}},
    {"python:*-slim", {"python:3.11-slim", "python:x-slim"}, {"python:3.11", "python:slim"}},
    {"registry.example/lab/*",
     {"registry.example/lab/x", "registry.example/lab/x:1", "registry.example/lab/a/b:1",
      "registry.example/lab/x@" DIGEST},
     {"registry.example/labx", "registry.example/x:1", "registry.example:5000/lab/x",
      "registry.example.evil/lab/x", "lab/x", "evil/registry.example/lab/x"}},
    {"registry.example:5000/*",
     {"registry.example:5000/x:1"},
     {"registry.example/x:1", "registry.example:50001/x"}},
    {"*.example/x:*",
     {"a.example/x:1", "a.b.example/x"},
     {"evil.com/a.example/x:1", "example/x:1", "evil.com/x.example/x"}},
    {"registry.example*", {"registry.example"}, {"registry.example.evil/x", "registry.example/x"}},
    {"docker.io/*", {"python:3", "evil/x:1"}, {"quay.io/x"}},
    {"lab/*", {"lab/x:1"}, {"python", "labs/x", "quay.io/lab/x"}},
    {"*", {"python", "evil/x:1", "quay.io/a/b@" DIGEST, "localhost:5000/x"}, {NULL}},
    {"a*b*c*d:*", {"axbxcxd:1", "abcd"}, {"abdc", "abcdx"}},
};

static bool stands_for(const char *pattern, const char *name)
{
    struct image_reference parsed;
    struct image_reference reference;
    struct error err = ERROR_INIT;
    bool matches;

    if (image_pattern_parse(&parsed, pattern, &err) < 0)
        fail_msg("%s %s", pattern, err.message);
    /* One that is no name at all is no way around a pattern either. */
    matches = image_reference_parse(&reference, name, &err) == 0 &&
              image_reference_matches(&reference, &parsed);
    image_reference_deinit(&reference);
    image_reference_deinit(&parsed);
    return matches;
}

static void test_a_pattern_stands_for_what_it_looks_like(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        for (const char *const *name = patterns[i].yes; *name && name < patterns[i].yes + 8; name++)
            if (!stands_for(patterns[i].pattern, *name))
                fail_msg("%s does not stand for %s", patterns[i].pattern, *name);
        for (const char *const *name = patterns[i].no; *name && name < patterns[i].no + 16; name++)
            if (stands_for(patterns[i].pattern, *name))
                fail_msg("%s stands for %s", patterns[i].pattern, *name);
    }
}

static void test_what_is_no_pattern_is_refused(void **state)
{
    static const char *const texts[] = {
        "",        "/x",      "x/",      "a//b",     "python:",  "python:a:", "Python",
        "python@", "py thon", "[::1]/x", "python:?", "pyth[o]n", "a@b@c"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct image_reference pattern;
        struct error err = ERROR_INIT;

        if (image_pattern_parse(&pattern, texts[i], &err) == 0)
            fail_msg("%s is taken for a pattern", texts[i]);
        image_reference_deinit(&pattern);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_is_written_out_in_full),
        cmocka_unit_test(test_a_name_of_any_length_is_refused_in_time),
        cmocka_unit_test(test_a_pattern_stands_for_what_it_looks_like),
        cmocka_unit_test(test_what_is_no_pattern_is_refused),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
