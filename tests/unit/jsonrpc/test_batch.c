#include "server/jsonrpc/batch.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void assert_text(const struct batch *batch, const char *text)
{
    assert_int_equal(buffer_length(&batch->text), strlen(text));
    if (*text)
        assert_memory_equal(buffer_bytes(&batch->text), text, strlen(text));
}

static void answers_become_one_array_with_the_last_member(void **state)
{
    struct batch *batch = batch_new(3);

    (void)state;
    batch_add(batch, "1", "{\"a\":1}");
    assert_false(batch_close_member(batch));
    assert_false(batch_close_member(batch)); /* a notification */
    batch_add(batch, "2", "{\"b\":2}");
    assert_true(batch_close_member(batch));
    assert_text(batch, "[{\"a\":1},{\"b\":2}]");
    batch_free(batch);
}

static void nothing_to_answer_is_no_text(void **state)
{
    struct batch *batch = batch_new(2);

    (void)state;
    assert_false(batch_close_member(batch));
    assert_true(batch_close_member(batch));
    assert_text(batch, "");
    batch_free(batch);
}

static void answers_without_room_become_errors(void **state)
{
    enum { ANSWER_BYTES = BATCH_BYTES / 2 };
    AUTO_FREE char *answer = memory_new(ANSWER_BYTES + 1, 1);
    struct batch *batch = batch_new(BATCH_MESSAGES);
    size_t before;

    (void)state;
    memset(answer, 'a', ANSWER_BYTES);
    batch_add(batch, "1", answer);
    before = buffer_length(&batch->text);
    for (int i = 1; i < BATCH_MESSAGES; i++)
        batch_add(batch, "\"b\"", answer);
    assert_in_range(buffer_length(&batch->text), before, before + BATCH_MESSAGES * 200);
    assert_memory_equal(buffer_bytes(&batch->text) + before,
                        ",{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"error\":{\"code\":-32603,", 50);
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_become_one_array_with_the_last_member),
        cmocka_unit_test(nothing_to_answer_is_no_text),
        cmocka_unit_test(answers_without_room_become_errors),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
