#include "environments/engine/archive.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { LIMIT = 4 * 1024 * 1024 };

static int make_scratch(void **state)
{
    *state = scratch_new();
    return 0;
}

static int remove_scratch(void **state)
{
    scratch_free(*state);
    return 0;
}

/* All of ARCHIVE, which is freed, in pieces of SIZE bytes. */
static void read_all(struct archive *archive, size_t size, struct buffer *ret)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *room = memory_new(size, 1);
    ssize_t length;

    buffer_init(ret, LIMIT);
    while ((length = archive_read(archive, room, size, &err)) > 0) {
        assert_true((size_t)length <= size);
        assert_int_equal(buffer_append(ret, room, (size_t)length, &err), 0);
    }
    if (length < 0)
        fail_msg("%s", err.message);
    archive_free(archive);
}

static struct archive *archive_of(const char *path, const char *rules)
{
    struct archive *archive = archive_new(LIMIT);
    struct error err = ERROR_INIT;
    struct dockerignore *ignore = rules ? dockerignore_new(rules, strlen(rules), &err) : NULL;

    if (archive_set_directory(archive, path, ignore, &err) < 0)
        fail_msg("%s", err.message);
    return archive;
}

/* What tar lists of ARCHIVE, a name a line. Owned by the caller. */
static char *list(const char *scratch, struct archive *archive)
{
    AUTO_FREE char *tar = memory_format("%s/archive.tar", scratch);
    AUTO_FREE char *listed = memory_format("%s/listed", scratch);
    struct buffer bytes;
    FILE *file = fopen(tar, "we");

    assert_non_null(file);
    read_all(archive, 1000, &bytes);
    assert_int_equal(buffer_length(&bytes) % 512, 0);
    assert_int_equal(fwrite(buffer_bytes(&bytes), 1, buffer_length(&bytes), file),
                     buffer_length(&bytes));
    fclose(file);
    buffer_deinit(&bytes);
    shell(scratch, "LC_ALL=C tar tf archive.tar >listed");
    return read_text(listed);
}

static void test_comes_out_as_it_went_in(void **state)
{
    const char *scratch = *state;
    AUTO_FREE char *context = memory_format("%s/context", scratch);
    AUTO_FREE char *names = NULL;

    shell(scratch, "n=$(printf 'n%.0s' $(seq 120)); p=$(printf 'p%.0s' $(seq 60));"
                   "mkdir -p context/$n/$n context/$p context/a/b; cd context;"
                   "echo 1 >$n/$n/$n; echo 1 >$p/$p; echo 2 >a/b/c; chmod 750 a/b/c; : >empty; "
                   "echo 3 >'\xC3\xBC';"
                   "head -c 100000 /dev/urandom >large; head -c 1024 /dev/urandom >even;"
                   "ln -s /etc/passwd link; ln -s /etc folder; ln -s $n/$n/$n/$n long");
    names = list(scratch, archive_of(context, NULL));
    shell(scratch, "mkdir out; tar xpf archive.tar -C out; diff -r --no-dereference context out;"
                   "[ $(stat -c %a out/a/b/c) = 750 ]; [ ! -e out/folder/passwd ] || "
                   "[ -L out/folder ]");
    assert_non_null(strstr(names, "folder\n"));
    assert_null(strstr(names, "folder/passwd"));
}

static void test_is_the_same_in_pieces_of_any_size(void **state)
{
    static const size_t sizes[] = {1, 511, 512, 513, 65536};
    const char *scratch = *state;
    AUTO_FREE char *context = memory_format("%s/pieces", scratch);
    struct buffer whole;

    shell(scratch, "mkdir pieces; cd pieces; echo 1 >one; mkdir d; echo 2 >d/two; touch z");
    read_all(archive_of(context, NULL), LIMIT, &whole);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct buffer pieces;

        read_all(archive_of(context, NULL), sizes[i], &pieces);
        assert_int_equal(buffer_length(&pieces), buffer_length(&whole));
        assert_memory_equal(buffer_bytes(&pieces), buffer_bytes(&whole), buffer_length(&whole));
        buffer_deinit(&pieces);
    }
    buffer_deinit(&whole);
}

static void test_what_is_ignored_is_left_out(void **state)
{
    const char *scratch = *state;
    AUTO_FREE char *context = memory_format("%s/ignored", scratch);
    AUTO_FREE char *names = NULL;

    shell(scratch, "mkdir -p ignored/a/b ignored/c; cd ignored; touch a/b/keep a/b/drop a/drop c/x;"
                   "mkfifo pipe");
    names = list(scratch, archive_of(context, "a\n!a/b/keep\n"));
    assert_string_equal(names, "a/b/keep\nc/\nc/x\n");
}

static void test_files_from_memory_come_first(void **state)
{
    const char *scratch = *state;
    AUTO_FREE char *context = memory_format("%s/memory", scratch);
    AUTO_FREE char *names = NULL;
    struct archive *archive;

    shell(scratch, "mkdir memory; touch memory/a");
    archive = archive_of(context, NULL);
    archive_add_file(archive, "Dockerfile", "FROM x\n", 7);
    archive_add_file(archive, "empty", "", 0);
    names = list(scratch, archive);
    assert_string_equal(names, "Dockerfile\nempty\na\n");
    shell(scratch, "[ \"$(tar xOf archive.tar Dockerfile)\" = 'FROM x' ]");
}

static void read_to_failure(struct archive *archive, struct error *err)
{
    char room[4096];
    ssize_t length;

    while ((length = archive_read(archive, room, sizeof room, err)) > 0)
        ;
    assert_int_equal(length, -1);
}

static void test_limit_is_an_error(void **state)
{
    struct archive *archive = archive_new(1536);
    struct error err = ERROR_INIT;

    (void)state;
    archive_add_file(archive, "a", "12", 2);
    read_to_failure(archive, &err);
    assert_int_equal(err.code, ERROR_LIMIT);
    archive_free(archive);
}

static void test_file_that_got_shorter_is_an_error(void **state)
{
    const char *scratch = *state;
    AUTO_FREE char *context = memory_format("%s/shorter", scratch);
    struct error err = ERROR_INIT;
    struct archive *archive;
    char room[512];

    shell(scratch, "mkdir shorter; echo 12345 >shorter/file");
    archive = archive_of(context, NULL);
    assert_int_equal(archive_read(archive, room, sizeof room, &err), 512);
    shell(scratch, ": >shorter/file");
    read_to_failure(archive, &err);
    assert_string_equal(err.message, "file got shorter while it was read");
    archive_free(archive);
}

static void test_directory_that_is_missing_is_an_error(void **state)
{
    AUTO_FREE char *context = memory_format("%s/missing", (const char *)*state);
    struct archive *archive = archive_new(LIMIT);
    struct error err = ERROR_INIT;

    assert_int_equal(archive_set_directory(archive, context, NULL, &err), -1);
    assert_non_null(strstr(err.message, "missing: No such file"));
    archive_free(archive);
}

static void test_directories_too_deep_are_an_error(void **state)
{
    const char *scratch = *state;
    AUTO_FREE char *context = memory_format("%s/deep", scratch);
    struct error err = ERROR_INIT;
    struct archive *archive;

    shell(scratch, "mkdir -p deep/$(printf 'd/%.0s' $(seq 200))");
    archive = archive_of(context, NULL);
    read_to_failure(archive, &err);
    assert_int_equal(err.code, ERROR_LIMIT);
    archive_free(archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_out_as_it_went_in),
        cmocka_unit_test(test_is_the_same_in_pieces_of_any_size),
        cmocka_unit_test(test_what_is_ignored_is_left_out),
        cmocka_unit_test(test_files_from_memory_come_first),
        cmocka_unit_test(test_limit_is_an_error),
        cmocka_unit_test(test_file_that_got_shorter_is_an_error),
        cmocka_unit_test(test_directory_that_is_missing_is_an_error),
        cmocka_unit_test(test_directories_too_deep_are_an_error),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
