/* Input: what a script may have made of the text with its stacks. What is read is within its
 * bounds, and printable. */
#undef NDEBUG
#include "environments/process/python_stacks.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const json_t *frame, const char *key)
{
    const json_t *name = json_object_get(frame, key);

    assert(json_is_string(name) && json_string_length(name) <= PYTHON_STACK_NAME_BYTES);
    for (size_t i = 0; i < json_string_length(name); i++)
        assert(json_string_value(name)[i] >= ' ' && json_string_value(name)[i] <= '~');
}

static void check_stack(const json_t *stack, size_t number)
{
    const json_t *frames = json_object_get(stack, "frames");
    const json_t *frame;
    size_t i;

    assert(json_array_size(frames) > 0 && json_array_size(frames) <= PYTHON_STACK_FRAMES);
    assert(json_integer_value(json_object_get(stack, "threads")) > 0);
    assert(number == 0 || json_is_false(json_object_get(stack, "main")));
    json_array_foreach (frames, i, frame) {
        check_name(frame, "file");
        check_name(frame, "function");
        assert(json_integer_value(json_object_get(frame, "line")) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* of its own, so that a byte too far is found */
    const json_t *stack;
    json_t *stacks;
    size_t i;

    assert(text);
    memcpy(text, data, size);
    stacks = python_stacks_read(text, size);
    assert(json_array_size(stacks) <= PYTHON_STACKS && (!stacks || json_array_size(stacks) > 0));
    json_array_foreach (stacks, i, stack)
        check_stack(stack, i);
    json_decref(stacks);
    free(text);
    return 0;
}
