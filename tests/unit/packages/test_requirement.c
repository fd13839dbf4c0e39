/* What is a package, what an installer is told of it, and what is refused at its place. */
#include "environments/packages/requirement.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DIGITS_32 "0123456789abcdefABCDEF0123456789"
#define DIGITS_64 DIGITS_32 DIGITS_32
#define SHA256    "--hash=sha256:" DIGITS_64
#define SHA512    "--hash=sha512:" DIGITS_64 DIGITS_64

static const struct {
    const char *text;
    const char *understood; /* NULL: the same */
    const char *hashes;
} taken[] = {
    {"numpy"},
    {"  A-b.c_9\t", "A-b.c_9"},
    {"a"},
    {"numpy==1.26.4"},
    {"numpy >= 1.26 , < 3,!=2.0.*", "numpy>=1.26,<3,!=2.0.*"},
    {"numpy (>=1.26, <3)", "numpy>=1.26,<3"},
    {"numpy~=1.4.2"},
    {"numpy===1.0+local-1"},
    {"numpy==1!2.0.post1"},
    {"requests[security,tests]>=2.8.1"},
    {"requests [ security , tests ]", "requests[security,tests]"},
    {"requests[]"},
    {"a; python_version < '3.9'", "a;python_version<'3.9'"},
    {"a>1 ; sys_platform == \"win32\" and (os_name!='nt' or extra == 'x')",
     "a>1;sys_platform==\"win32\" and (os_name!='nt' or extra=='x')"},
    {"a; 'linux' in sys_platform", "a;'linux' in sys_platform"},
    {"a; 'linux' not   in sys_platform", "a;'linux' not  in sys_platform"},
    {"a; platform_release == ''", "a;platform_release==''"},
    {"a==1 " SHA256, "a==1", " " SHA256},
    {"a==1; os_name=='posix'   " SHA256 "\t" SHA512, "a==1;os_name=='posix'",
     " " SHA256 " " SHA512},
};

static void test_packages_by_name_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
        const char *text = taken[i].text;
        struct requirement requirement;
        struct error err = ERROR_INIT;

        if (requirement_parse(&requirement, text, strlen(text), &err) < 0)
            fail_msg("%s: %s", text, err.message);
        assert_string_equal(requirement.text, taken[i].understood ? taken[i].understood : text);
        assert_string_equal(requirement.hashes, taken[i].hashes ? taken[i].hashes : "");
        requirement_deinit(&requirement);
    }
}

static void test_the_name_is_the_beginning(void **state)
{
    static const char text[] = " numpy [x] >=1";
    struct requirement requirement;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(requirement_parse(&requirement, text, strlen(text), &err), 0);
    assert_int_equal(requirement.name_length, strlen("numpy"));
    requirement_deinit(&requirement);
}

#define OPTIONS "options are not taken"
#define URLS    "URLs are not taken"
#define PATHS   "paths are not taken"
#define ARCHIVE "paths of archives are not taken"
#define BEHIND  "there is something behind the package"
#define VERSION "a version clause is"
#define MARKER  "a marker compares"

static const struct {
    const char *text;
    const char *reason;
} refused[] = {
    {"", "there is no package name"},
    {"_name", "there is no package name"},
    {"name-", "a package name ends with"},
    {"-r other.txt", OPTIONS},
    {"-rother.txt", OPTIONS},
    {"-c constraints.txt", OPTIONS},
    {"-e .", OPTIONS},
    {"-e git+https://example.com/x.git#egg=x", OPTIONS},
    {"--find-links=/somewhere", OPTIONS},
    {"--trusted-host example.com", OPTIONS},
    {"--pre", OPTIONS},
    {SHA256, OPTIONS},
    {"https://example.com/a.whl", URLS},
    {"file:///etc/passwd", URLS},
    {"git+ssh://example.com/a", URLS},
    {"a @ https://example.com/a.whl", "URLs behind \"@\""},
    {"a@file:///tmp/a", URLS},
    {"a[x]@file:/tmp/a", PATHS},
    {"a @ file:/tmp/a", "URLs behind \"@\""},
    {".", PATHS},
    {"..", PATHS},
    {"./a", PATHS},
    {"../a", PATHS},
    {"~/a", PATHS},
    {"/tmp/a", PATHS},
    {"a/b", PATHS},
    {"a\\b", PATHS},
    {"a-1.0-py3-none-any.whl", ARCHIVE},
    {"a.tar.gz", ARCHIVE},
    {"A.ZIP", ARCHIVE},
    {"$HOME", "there is no package name"},
    {"a$B", BEHIND},
    {"a==${B}", VERSION},
    {"a b", BEHIND},
    {"a --pre", "the only option that is taken is --hash"},
    {"a --global-option=x", "the only option that is taken is --hash"},
    {"a --hash=md5:00", "the only option that is taken is --hash"},
    {"a --hash=sha256:00", "the only option that is taken is --hash"},
    {"a " SHA256 "0", "the only option that is taken is --hash"},
    {"a " SHA256 " --pre", "the only option that is taken is --hash"},
    {"a--hash=sha256:" DIGITS_64, VERSION},
    {"a=1", VERSION},
    {"a==", VERSION},
    {"a==1,", VERSION},
    {"a==1 2", BEHIND},
    {"a==-1", VERSION},
    {"a(==1", "the parenthesis around"},
    {"a()", VERSION},
    {"a[x", "extras are names"},
    {"a[x,]", "extras are names"},
    {"a[../x]", PATHS},
    {"a[.]", "extras are names"},
    {"a;", MARKER},
    {"a; python_version", MARKER},
    {"a; python_version >", MARKER},
    {"a; pythons > '3'", MARKER},
    {"a; python_version > '3", MARKER},
    {"a; python_version > ' --index'", MARKER},
    {"a; python_version > '-x'", MARKER},
    {"a; python_version > '3 --pre'", MARKER},
    {"a; python_version > '$X'", MARKER},
    {"a; '3' not python_version", MARKER},
    {"a; (python_version > '3'", "a parenthesis of the marker"},
    {"a; python_version > '3' or", MARKER},
    {"a; python_version > '3' xor os_name == 'x'", BEHIND},
    {"a; ((((((((((((((((((python_version > '3'", "a marker has too many"},
    {"caf\xC3\xA9", BEHIND},
    {"a\nb", BEHIND},
};

static void test_everything_else_is_refused_with_its_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        const char *text = refused[i].text;
        struct requirement requirement;
        struct error err = ERROR_INIT;

        if (requirement_parse(&requirement, text, strlen(text), &err) == 0)
            fail_msg("taken: %s", text);
        if (strncmp(err.message, refused[i].reason, strlen(refused[i].reason)) != 0)
            fail_msg("%s: %s", text, err.message);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
}

static void test_what_is_refused_is_not_quoted(void **state)
{
    static const char *const texts[] = {"s3cret:x:0:0::/:/bin/sh",
                                        "a s3cret",
                                        "a==s3cret/",
                                        "-s3cret",
                                        "a; s3cret",
                                        "a[s3cret",
                                        "a @ s3cret"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct requirement requirement;
        struct error err = ERROR_INIT;

        assert_int_equal(requirement_parse(&requirement, texts[i], strlen(texts[i]), &err), -1);
        assert_null(strstr(err.message, "s3cret"));
    }
}

static void test_a_nul_is_no_end(void **state)
{
    static const char text[] = "numpy\0 --pre";
    struct requirement requirement;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(requirement_parse(&requirement, text, sizeof text - 1, &err), -1);
}

static void test_the_length_is_limited(void **state)
{
    static const char word[] = "a;'x'in extra ";
    size_t length = 64 * 1024;
    char *text = memory_new(length + 2, 1);
    struct requirement requirement;
    struct error err = ERROR_INIT;

    (void)state;
    memset(text, ' ', length + 1);
    memcpy(text, word, strlen(word));
    for (char *at = text + strlen(word); at + 14 < text + length; at += 14)
        memcpy(at, "or'x'in extra ", 14);
    assert_int_equal(requirement_parse(&requirement, text, length, &err), 0);
    assert_memory_equal(requirement.text + strlen(requirement.text) - 8, "in extra", 8);
    requirement_deinit(&requirement);
    assert_int_equal(requirement_parse(&requirement, text, length + 1, &err), -1);
    assert_string_equal(err.message, "it is longer than 65536 bytes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages_by_name_are_taken),
        cmocka_unit_test(test_the_name_is_the_beginning),
        cmocka_unit_test(test_everything_else_is_refused_with_its_reason),
        cmocka_unit_test(test_what_is_refused_is_not_quoted),
        cmocka_unit_test(test_a_nul_is_no_end),
        cmocka_unit_test(test_the_length_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
