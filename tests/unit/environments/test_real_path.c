#include "environments/real_path.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* In the scratch directory:
 *
 *     data/file  data/sub/  data/inside -> sub  data/out -> ../other  data/nowhere -> ../gone/x
 *     data/loop -> loop  data/root -> /  database/  other/file  link -> data */
struct tree {
    char *scratch;
    char *real; /* of the scratch directory */
};

static char *place(const struct tree *tree, const char *name)
{
    return memory_format("%s/%s", tree->real, name);
}

static void make_directory(const struct tree *tree, const char *name)
{
    AUTO_FREE char *path = place(tree, name);

    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const struct tree *tree, const char *name)
{
    AUTO_FREE char *path = place(tree, name);

    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void make_link(const struct tree *tree, const char *name, const char *target)
{
    AUTO_FREE char *path = place(tree, name);

    (void)unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

static int setup(void **state)
{
    struct tree *tree = NEW(struct tree);

    tree->scratch = scratch_new();
    tree->real = realpath(tree->scratch, NULL);
    make_directory(tree, "data");
    make_directory(tree, "data/sub");
    make_directory(tree, "database");
    make_directory(tree, "other");
    make_file(tree, "data/file");
    make_file(tree, "other/file");
    make_link(tree, "data/inside", "sub");
    make_link(tree, "data/out", "../other");
    make_link(tree, "data/nowhere", "../gone/x");
    make_link(tree, "data/loop", "loop");
    make_link(tree, "data/root", "/");
    make_link(tree, "link", "data");
    *state = tree;
    return 0;
}

static int teardown(void **state)
{
    struct tree *tree = *state;

    scratch_free(tree->scratch);
    free(tree->real);
    free(tree);
    return 0;
}

/* "@" stands for the scratch directory. */
static char *expand(const struct tree *tree, const char *text)
{
    return *text == '@' ? memory_format("%s%s", tree->real, text + 1) : memory_copy_string(text);
}

static const struct {
    const char *path;
    const char *real; /* NULL: it leads nowhere */
    bool in_data;
} paths[] = {
    {"@/data", "@/data", true},
    {"@/data/", "@/data", true},
    {"@//data///file", "@/data/file", true},
    {"@/data/./sub/.", "@/data/sub", true},
    {"@/data/sub/..", "@/data", true},
    {"@/data/sub/../..", "@", false},
    {"@/data/../database", "@/database", false},
    {"@/database", "@/database", false},
    {"@/database/new", "@/database/new", false},
    {"@/dat", "@/dat", false},
    {"@/data/inside", "@/data/sub", true},
    {"@/data/inside/new", "@/data/sub/new", true},
    {"@/data/inside/../../other", "@/other", false},
    {"@/data/out", "@/other", false},
    {"@/data/out/file", "@/other/file", false},
    {"@/data/out/../data/file", "@/data/file", true},
    {"@/link/file", "@/data/file", true},
    {"@/data/root/etc/passwd", "/etc/passwd", false},
    {"@/data/nowhere", NULL, false},
    {"@/data/nowhere/new", NULL, false},
    {"@/data/loop", NULL, false},
    {"@/data/loop/new", NULL, false},
    {"@/data/file/", NULL, false},
    {"@/data/file/new", NULL, false},
    {"@/data/new", "@/data/new", true},
    {"@/data/new/", "@/data/new", true},
    {"@/data/new//deeper", "@/data/new/deeper", true},
    {"@/data/new/..", NULL, false},
    {"@/data/new/../../../etc", NULL, false},
    {"@/data/new/./deeper", NULL, false},
    {"/proc/self/root/etc/passwd", "/etc/passwd", false},
    {"/", "/", false},
    {"//", "/", false},
    {"data/file", NULL, false},
    {"", NULL, false},
    {".", NULL, false},
    {"~/x", NULL, false},
};

static void test_a_path_is_what_it_leads_to(void **state)
{
    const struct tree *tree = *state;
    AUTO_FREE char *data = place(tree, "data");
    AUTO_FREE char *link = place(tree, "link");

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *path = expand(tree, paths[i].path);
        AUTO_FREE char *wanted = paths[i].real ? expand(tree, paths[i].real) : NULL;
        AUTO_FREE char *real = real_path_find(path, &err);

        if (!real != !wanted || (real && strcmp(real, wanted) != 0))
            fail_msg("%s leads to %s, not %s", paths[i].path, real, wanted);
        if (!real)
            assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
        else if (real_path_is_in(real, data) != paths[i].in_data ||
                 real_path_is_in(real, link) != paths[i].in_data)
            fail_msg("%s is taken for one of the other side", paths[i].path);
    }
}

static void test_a_descriptor_of_ours_is_no_way_around(void **state)
{
    const struct tree *tree = *state;
    AUTO_FREE char *other = place(tree, "other");
    AUTO_FREE char *data = place(tree, "data");
    AUTO_CLOSE int fd = open(other, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int ends[2];
    AUTO_FREE char *directory = memory_format("/proc/self/fd/%d/file", fd);
    AUTO_FREE char *real = NULL;
    AUTO_FREE char *pipe_path = NULL;
    struct error err = ERROR_INIT;

    real = real_path_find(directory, &err);
    assert_non_null(real);
    assert_false(real_path_is_in(real, data));
    assert_int_equal(pipe(ends), 0);
    pipe_path = memory_format("/proc/self/fd/%d", ends[0]);
    assert_null(real_path_find(pipe_path, &err));
    close(ends[0]);
    close(ends[1]);
}

static void test_a_path_that_is_too_long_leads_nowhere(void **state)
{
    static char path[PATH_MAX + 10];
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i + 1 < sizeof path; i++)
        path[i] = i % 2 ? 'a' : '/';
    assert_null(real_path_find(path, &err));
}

static void test_everything_is_in_the_root_and_nothing_in_what_is_missing(void **state)
{
    (void)state;
    assert_true(real_path_is_in("/etc/passwd", "/"));
    assert_true(real_path_is_in("/", "/"));
    assert_false(real_path_is_in("/nonexistent", "/nonexistent"));
}

static void test_a_link_put_in_the_way_is_seen(void **state)
{
    const struct tree *tree = *state;
    AUTO_FREE char *sub = place(tree, "data/sub");
    AUTO_FREE char *new = place(tree, "data/sub/new");
    AUTO_FREE char *file = place(tree, "data/file");

    assert_true(real_path_is_same(sub));
    assert_true(real_path_is_same(new));
    assert_true(real_path_is_same(file));
    assert_int_equal(rmdir(sub), 0);
    make_link(tree, "data/sub", "../other");
    assert_false(real_path_is_same(sub));
    assert_false(real_path_is_same(new));
    make_link(tree, "data/file", "../other/file");
    assert_false(real_path_is_same(file));
    make_link(tree, "data/file", "../gone");
    assert_false(real_path_is_same(file));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_path_is_what_it_leads_to, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_descriptor_of_ours_is_no_way_around, setup,
                                        teardown),
        cmocka_unit_test(test_a_path_that_is_too_long_leads_nowhere),
        cmocka_unit_test(test_everything_is_in_the_root_and_nothing_in_what_is_missing),
        cmocka_unit_test_setup_teardown(test_a_link_put_in_the_way_is_seen, setup, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
