/* Input: what an engine answers before it hands a connection over. Whether there is a head does not
 * depend on what follows it; until it is whole, more is needed. */
#undef NDEBUG
#include "environments/engine/response_head.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* From memory of exactly that size, so that reading beyond it is seen. */
static int parse(const uint8_t *data, size_t size, struct response_head *head)
{
    char *copy = malloc(size);
    struct error err = ERROR_INIT;
    int found;

    assert(copy || size == 0);
    if (size > 0)
        memcpy(copy, data, size);
    found = response_head_parse(copy, size, head, &err);
    assert((found < 0) == (err.code != ERROR_NONE));
    free(copy);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct response_head head;
    struct response_head again;

    if (parse(data, size, &head) <= 0)
        return 0;
    assert(head.length <= size && head.status >= 100 && head.status <= 599);
    assert(memcmp(data + head.length - 4, "\r\n\r\n", 4) == 0);
    assert(parse(data, head.length, &again) == 1 && again.length == head.length);
    assert(again.status == head.status && again.body_length == head.body_length);
    assert(parse(data, head.length - 1, &again) == 0);
    return 0;
}
