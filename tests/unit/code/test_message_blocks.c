#include "server/tools/code/message_blocks.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static const struct {
    const char *message;
    const char *blocks; /* as JSON */
} messages[] = {
    {"", "[]"},
    {"no code here", "[]"},
    {"a\n```python\nprint(1)\n```\nb\n```sh\nls\n```\n",
     "[[\"python\", \"print(1)\\n\"], [\"sh\", \"ls\\n\"]]"},
    {"```\nx\n```", "[[\"\", \"x\\n\"]]"},
    {"```\n```", "[[\"\", \"\"]]"},
    {"```c++ -O2\nint a;\n```", "[[\"c++\", \"int a;\\n\"]]"},
    {"```a&#13;b\nx\n```", "[[\"a\", \"x\\n\"]]"},
    {"~~~ py\nx\n~~~", "[[\"py\", \"x\\n\"]]"},
    {"```python:main.py\nx\n```", "[[\"python\", \"x\\n\"]]"},
    {"```{python}\nx\n```", "[[\"python\", \"x\\n\"]]"},
    {"```sh\r\nls\r\npwd\r\n```\r\n", "[[\"sh\", \"ls\\npwd\\n\"]]"},
    {"````md\n```python\nx\n```\n````", "[[\"md\", \"```python\\nx\\n```\\n\"]]"},
    {"- a\n\n  ```python\n  if x:\n      y\n  ```\n", "[[\"python\", \"if x:\\n    y\\n\"]]"},
    {"> ```sh\n> ls\n> ```\n", "[[\"sh\", \"ls\\n\"]]"},
    {"```python\nnever closed", "[[\"python\", \"never closed\\n\"]]"},

    /* Indented text is no block, even if it looks like a fence. */
    {"a\n\n    print(1)\n", "[]"},
    {"a\n\n    ```\n    x\n    ```\n", "[]"},
    {"```\n    ```\n```", "[[\"\", \"    ```\\n\"]]"},
};

static void test_blocks_are_those_that_commonmark_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
        AUTO_JSON json_t *expected = json_loads(messages[i].blocks, 0, NULL);
        AUTO_JSON json_t *blocks =
            message_blocks_read(messages[i].message, strlen(messages[i].message));

        assert_int_equal(json_array_size(blocks), json_array_size(expected));
        for (size_t k = 0; k < json_array_size(blocks); k++) {
            const json_t *block = json_array_get(blocks, k);
            const json_t *pair = json_array_get(expected, k);

            assert_string_equal(json_object_get_string(block, "language"),
                                json_string_value(json_array_get(pair, 0)));
            assert_string_equal(json_object_get_string(block, "code"),
                                json_string_value(json_array_get(pair, 1)));
        }
    }
}

static void test_a_nul_hides_no_block_behind_it(void **state)
{
    static const char message[] = "a\0b\n\n```\nx\n```\n";
    AUTO_JSON json_t *blocks = message_blocks_read(message, sizeof message - 1);

    (void)state;
    assert_int_equal(json_array_size(blocks), 1);
}

/* Far from quadratic, which took 12 s. */
static void test_twenty_thousand_blocks_are_read_at_once(void **state)
{
    static const char block[] = "```\nx\n```\n";
    const size_t count = 20000;
    const size_t length = strlen(block);
    AUTO_FREE char *message = memory_new(count, length);
    AUTO_JSON json_t *blocks = NULL;
    const clock_t start = clock();

    (void)state;
    for (size_t i = 0; i < count; i++)
        memcpy(message + i * length, block, length);
    blocks = message_blocks_read(message, count * length);
    assert_int_equal(json_array_size(blocks), count);
    assert_true(clock() - start < 3 * CLOCKS_PER_SEC);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_those_that_commonmark_has),
        cmocka_unit_test(test_a_nul_hides_no_block_behind_it),
        cmocka_unit_test(test_twenty_thousand_blocks_are_read_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
