#include "server/jsonrpc/owner.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static bool is_of_b(void *data, const char *handle)
{
    ++*(unsigned *)data;
    return strncmp(handle, "b-", 2) == 0;
}

/* The handle that is found in a request of METHOD with PARAMS. Owned by the caller. */
static char *find_in_request(const char *method, const char *params)
{
    AUTO_FREE char *text =
        memory_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":%s,\"params\":%s}", method, params);
    struct incoming incoming;
    unsigned looks = 0;
    const char *found;
    char *copy;

    incoming_init(&incoming, text, strlen(text));
    found = owner_find_handle(&incoming, is_of_b, &looks);
    copy = found ? memory_copy_string(found) : NULL;
    incoming_deinit(&incoming);
    return copy;
}

static char *find_in(const char *params)
{
    return find_in_request("\"tools/call\"", params);
}

static void test_a_handle_is_found_in_each_of_its_places(void **state)
{
    static const char *const params[] = {
        "{\"arguments\":{\"session\":\"b-1\"}}",
        "{\"arguments\":{\"fork\":\"b-1\"}}",
        "{\"arguments\":{\"working_directory\":\"b-1\"}}",
        "{\"arguments\":{\"session\":\"a-1\",\"working_directory\":\"b-1\"}}",
        "{\"taskId\":\"b-1\"}",
        "{\"requestState\":\"b-1\"}",
        "{\"notifications\":{\"taskIds\":[7,\"a-1\",\"b-1\"]}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(params); i++) {
        AUTO_FREE char *found = find_in(params[i]);

        assert_non_null(found);
        assert_string_equal(found, "b-1");
    }
}

static void test_a_file_is_its_directorys(void **state)
{
    AUTO_FREE char *found = find_in("{\"uri\":\"pyexecd://b-1/x\"}");
    AUTO_FREE char *listed =
        find_in_request("\"resources/list\"", "{\"cursor\":\"pyexecd://b-1/x\"}");
    AUTO_FREE char *watched =
        find_in("{\"notifications\":{\"resourceSubscriptions\":[\"pyexecd://b-1/x\"]}}");

    (void)state;
    assert_string_equal(found, "b-1/x");
    assert_string_equal(listed, "b-1/x");
    assert_string_equal(watched, "b-1/x");
}

static void test_other_places_have_none(void **state)
{
    static const char *const params[] = {
        "[]",
        "7",
        "{}",
        "{\"arguments\":[\"b-1\"]}",
        "{\"arguments\":{\"code\":\"b-1\"}}",
        "{\"arguments\":{\"session\":{\"session\":\"b-1\"}}}",
        "{\"session\":\"b-1\"}",
        "{\"uri\":\"https://b-1/x\"}",
        "{\"taskId\":\"a-1\"}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(params); i++)
        assert_null(find_in(params[i]));
}

static void test_arguments_of_what_is_no_tool_have_none(void **state)
{
    static const char *const methods[] = {"\"prompts/get\"", "\"tools/call/x\"", "7"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
        assert_null(find_in_request(methods[i], "{\"arguments\":{\"session\":\"b-1\"}}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_handle_is_found_in_each_of_its_places),
        cmocka_unit_test(test_a_file_is_its_directorys),
        cmocka_unit_test(test_other_places_have_none),
        cmocka_unit_test(test_arguments_of_what_is_no_tool_have_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
