#include "environments/engine/go.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct stat some_file = {
    .st_mode = S_IFREG | 0600,
    .st_dev = 0xfd03,
    .st_ino = 0x123456789abcdef,
    .st_size = 77,
};

static void test_it_comes_as_it_went(void **state)
{
    const struct go go = go_for(&some_file);
    char bytes[GO_BYTES];
    struct go came;

    (void)state;
    go_encode(&go, bytes);
    assert_memory_equal(
        bytes, "\x03\xfd\0\0\0\0\0\0\xef\xcd\xab\x89\x67\x45\x23\x01\x4d\0\0\0\0\0\0\0", GO_BYTES);
    came = go_decode(bytes);
    assert_memory_equal(&came, &go, sizeof go);
}

static void test_it_is_for_one_file_with_one_size(void **state)
{
    const struct go go = go_for(&some_file);
    struct stat file = some_file;

    (void)state;
    assert_true(go_is_for(&go, &file));
    file.st_size++;
    assert_false(go_is_for(&go, &file));
    file = some_file;
    file.st_ino++;
    assert_false(go_is_for(&go, &file));
    file = some_file;
    file.st_dev++;
    assert_false(go_is_for(&go, &file));
    file = some_file;
    file.st_mode = S_IFDIR | 0700;
    assert_false(go_is_for(&go, &file));
}

static void test_code_follows_where_files_have_other_numbers(void **state)
{
    const struct go with_code = go_with_code(77);
    const struct go local = go_for(&some_file);

    (void)state;
    assert_true(go_has_code(&with_code));
    assert_false(go_is_for(&with_code, &some_file));
    assert_false(go_has_code(&local));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_comes_as_it_went),
        cmocka_unit_test(test_it_is_for_one_file_with_one_size),
        cmocka_unit_test(test_code_follows_where_files_have_other_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
