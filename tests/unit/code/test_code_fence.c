#include "server/tools/code/code_fence.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *code;
    const char *bare; /* NULL: it is not touched */
} cases[] = {
    {"```python\nprint(1)\n```", "         \nprint(1)\n"},
    {"\n```\nprint(1)\n```\n\n", "\n   \nprint(1)\n"},
    {"```Python3 \r\nprint(1)\r\n```\r\n", "            \nprint(1)\r\n"},
    {"~~~py\nx\n~~~", "     \nx\n"},
    {"````python\na = \"\"\"\n```\n\"\"\"\n````", "          \na = \"\"\"\n```\n\"\"\"\n"},
    {"```python\na = \"\"\"\n```\n\"\"\"\n```", "         \na = \"\"\"\n```\n\"\"\"\n"},
    {"```python\n```", "         \n"},
    {"```python:main.py\nx\n```", "                 \nx\n"},
    {"```python title=\"main.py\"\nx\n```", "                         \nx\n"},
    {"```{python}\nx\n```", "           \nx\n"},
    {"``` {.python .numbered}\nx\n```", "                       \nx\n"},
    {"\xEF\xBB\xBF```python\nx\n```", "\xEF\xBB\xBF         \nx\n"},

    {"print(1)", NULL},
    {"", NULL},
    {"```", NULL},
    {"```python", NULL},
    {"```python\nprint(1)", NULL},
    {"```bash\nls\n```", NULL},
    {"```{r}\nx\n```", NULL},
    {"```python-repl\n>>> x\n```", NULL},
    {"Here it is:\n```python\nprint(1)\n```", NULL},
    {"```python\nprint(1)\n```\nThis prints 1.", NULL},
    {"```python\nprint(1)\n~~~", NULL},
    {"````python\nprint(1)\n```", NULL},
    {"``python\nprint(1)\n``", NULL},
    {"a = \"\"\"\n```python\nprint(1)\n```\n\"\"\"", NULL},
};

static void test_only_a_whole_fenced_block_of_python_is_unwrapped(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length = 0;
        AUTO_FREE char *bare = code_fence_remove(cases[i].code, strlen(cases[i].code), &length);

        if (!cases[i].bare) {
            assert_null(bare);
            continue;
        }
        assert_string_equal(bare, cases[i].bare);
        assert_int_equal(length, strlen(bare));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_a_whole_fenced_block_of_python_is_unwrapped),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
