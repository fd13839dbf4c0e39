#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "server/configuration/config.h"
#include "tests/unit/configuration/reading.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A file of the source tree; owned by the caller. */
static char *read_source(const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", getenv("SOURCE_ROOT"), name);
    struct error err = ERROR_INIT;
    size_t length;
    char *text = fd_read_file(path, 1024 * 1024, &length, &err);

    if (!text)
        fail_msg("%s", err.message);
    return text;
}

static void test_the_examples_are_right(void **state)
{
    AUTO_FREE char *pattern = NULL;
    glob_t found;

    (void)state;
    if (!getenv("SOURCE_ROOT"))
        skip();
    pattern = memory_format("%s/examples/*.yaml", getenv("SOURCE_ROOT"));
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 6);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct error err = ERROR_INIT;
        size_t length;
        AUTO_FREE char *text = fd_read_file(found.gl_pathv[i], 65536, &length, &err);
        AUTO_FREE char *errors = NULL;

        assert_non_null(text);
        errors = errors_of(text);
        assert_string_equal(errors, "");
    }
    globfree(&found);
}

static void test_what_documents_show_is_right(void **state)
{
    static const char opening[] = "```yaml\n";
    AUTO_FREE char *document = NULL;
    size_t shown = 0;

    if (!getenv("SOURCE_ROOT"))
        skip();
    document = read_source(*state);
    for (char *block = document; (block = strstr(block, opening)); shown++) {
        char *end = strstr(block, "```\n\n");
        AUTO_FREE char *text = NULL;
        AUTO_FREE char *errors = NULL;

        assert_non_null(end);
        block += strlen(opening);
        text = strndup(block, (size_t)(end - block));
        if (*text == '#') /* the line for editors alone: a file of comments is empty */
            continue;
        errors = errors_of(text);
        assert_string_equal(errors, "");
    }
    assert_true(shown > 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_examples_are_right),
        {"the blocks of configuration.md", test_what_documents_show_is_right, NULL, NULL,
         (void *)"docs/configuration.md"},
        {"the blocks of environments.md", test_what_documents_show_is_right, NULL, NULL,
         (void *)"docs/environments.md"},
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
