#include "base/handle.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_a_handle_names_its_replica(void **state)
{
    AUTO_FREE char *handle = handle_new("b2", 32);

    (void)state;
    assert_int_equal(strlen(handle), 3 + 32);
    assert_int_equal(strncmp(handle, "b2-", 3), 0);
    assert_int_equal(handle_measure_replica(handle), 2);
    assert_string_equal(handle_secret(handle), handle + 3);
}

static void test_a_handle_of_a_server_alone_names_none(void **state)
{
    AUTO_FREE char *handle = handle_new(NULL, 32);

    (void)state;
    assert_int_equal(strlen(handle), 32);
    assert_int_equal(handle_measure_replica(handle), 0);
    assert_ptr_equal(handle_secret(handle), handle);
}

static void test_other_texts_name_none(void **state)
{
    static const char *const texts[] = {
        "", "-", "-0", "a", "A-0", "a b-0", "v1.a-0", "a.b-0", "0123456789abcdefg-0"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_int_equal(handle_measure_replica(texts[i]), 0);
    assert_int_equal(handle_measure_replica("0123456789abcdef-0"), HANDLE_REPLICA_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_handle_names_its_replica),
        cmocka_unit_test(test_a_handle_of_a_server_alone_names_none),
        cmocka_unit_test(test_other_texts_name_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
