#include "environments/docker/context.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/docker/site.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = scratch_new();
    shell(*state, "mkdir context; echo FROM scratch >context/Dockerfile; echo secret >secret");
    return 0;
}

static int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

/* The context of the Dockerfile at NAME in the scratch directory; NULL with ERR. */
static struct archive *open_context(void **state, const char *name, struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/%s", (char *)*state, name);

    return docker_context_open(&(struct docker_site){.definition.dockerfile = path}, err);
}

/* True when all of the context can be read, and TEXT is not in it. */
static bool is_read_without(struct archive *archive, const char *text)
{
    char room[512];
    struct error err = ERROR_INIT;
    bool is_without = true;
    ssize_t length;

    while ((length = archive_read(archive, room, sizeof room, &err)) > 0)
        if (memmem(room, (size_t)length, text, strlen(text)))
            is_without = false;
    archive_free(archive);
    return length == 0 && is_without;
}

static void test_the_directory_of_a_dockerfile_is_its_context(void **state)
{
    struct error err = ERROR_INIT;
    struct archive *archive = open_context(state, "context/Dockerfile", &err);

    assert_non_null(archive);
    assert_false(is_read_without(archive, "FROM scratch"));
}

static void test_what_is_no_file_is_no_dockerfile(void **state)
{
    AUTO_FREE char *path = memory_format("%s/context/made", (char *)*state);

    for (unsigned i = 0; i < IMPOSTORS; i++) {
        const char *name = impostor_put(i, path, "Dockerfile");
        struct error err = ERROR_INIT;

        if (open_context(state, "context/made", &err))
            fail_msg("%s was taken for a Dockerfile", name);
        assert_non_null(strstr(err.message, path));
        impostor_remove(path);
    }
}

static void test_what_is_no_file_has_no_rules(void **state)
{
    AUTO_FREE char *path = memory_format("%s/context/.dockerignore", (char *)*state);

    for (unsigned i = 0; i < IMPOSTORS; i++) {
        const char *name = impostor_put(i, path, "Dockerfile");
        struct error err = ERROR_INIT;

        if (open_context(state, "context/Dockerfile", &err))
            fail_msg("%s was taken for rules", name);
        impostor_remove(path);
    }
}

static void test_a_link_on_the_way_is_not_followed(void **state)
{
    struct error err = ERROR_INIT;

    shell(*state, "ln -s context link");
    assert_null(open_context(state, "link/Dockerfile", &err));
}

static void test_nothing_outside_of_the_context_comes_into_it(void **state)
{
    struct error err = ERROR_INIT;
    struct archive *archive;

    shell(*state, "cd context; ln -s ../secret link; ln -s .. up; mkfifo fifo; ln -s /dev/zero z");
    archive = open_context(state, "context/Dockerfile", &err);
    assert_non_null(archive);
    assert_true(is_read_without(archive, "secret\n"));
}

static void test_nobody_waits_for_a_lease_in_the_context(void **state)
{
    AUTO_FREE char *path = memory_format("%s/context/leased", (char *)*state);
    struct error err = ERROR_INIT;

    impostor_put(IMPOSTORS - 1, path, "");
    assert_false(is_read_without(open_context(state, "context/Dockerfile", &err), "secret"));
    impostor_remove(path);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(test_##NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_directory_of_a_dockerfile_is_its_context),
        TEST(what_is_no_file_is_no_dockerfile),
        TEST(what_is_no_file_has_no_rules),
        TEST(a_link_on_the_way_is_not_followed),
        TEST(nothing_outside_of_the_context_comes_into_it),
        TEST(nobody_waits_for_a_lease_in_the_context),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
