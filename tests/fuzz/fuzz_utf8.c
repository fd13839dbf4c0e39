/* Input: bytes as a program may print them. Repairing them gives valid text of at most three times
 * the length that needs no repair; text cut at a boundary is repaired to the same in two halves. */
#include "base/cleanup.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPLIT_BYTES = 64 }; /* longer input is split at the first places only */

static void check_repair(const char *text, size_t length)
{
    size_t repaired_length;
    size_t again_length;
    AUTO_FREE char *repaired = utf8_repair(text, length, &repaired_length);
    AUTO_FREE char *again = utf8_repair(repaired, repaired_length, &again_length);

    assert(utf8_is_valid(repaired, repaired_length));
    assert(repaired[repaired_length] == '\0' && repaired_length <= 3 * length);
    assert(again_length == repaired_length && memcmp(again, repaired, again_length) == 0);
    assert(!utf8_is_valid(text, length) ||
           (repaired_length == length && memcmp(repaired, text, length) == 0));
}

/* As bytes come from a pipe: LENGTH of SIZE now, the rest later. */
static void check_split(const char *text, size_t length, size_t size)
{
    size_t cut = utf8_boundary_before(text, length);
    size_t whole_length;
    size_t head_length;
    size_t tail_length;
    AUTO_FREE char *whole = utf8_repair(text, size, &whole_length);
    AUTO_FREE char *head = utf8_repair(text, cut, &head_length);
    AUTO_FREE char *tail = utf8_repair(text + cut, size - cut, &tail_length);

    assert(cut <= length && length - cut < 4);
    assert(head_length + tail_length == whole_length);
    assert(memcmp(whole, head, head_length) == 0);
    assert(memcmp(whole + head_length, tail, tail_length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    check_repair(text, size);
    for (size_t length = 0; length <= size && length <= SPLIT_BYTES; length++)
        check_split(text, length, size);
    return 0;
}
