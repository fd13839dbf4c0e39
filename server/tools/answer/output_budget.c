#include "server/tools/answer/output_budget.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* Of a share, the part for the beginning: a traceback is at the end of the error output. */
static const double output_head_parts[OUTPUT_PARTS] = {
    [OUTPUT_OUT] = 0.5,
    [OUTPUT_ERR] = 0.25,
};

static bool output_is_start(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

size_t output_budget_count(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += output_is_start(text[i]);
    return count;
}

void output_budget_share(size_t total, const size_t characters[OUTPUT_PARTS],
                         size_t ret_shares[OUTPUT_PARTS])
{
    for (int i = 0; i < OUTPUT_PARTS; i++)
        ret_shares[i] = total - size_min(characters[OUTPUT_PARTS - 1 - i], total / 2);
}

/* Where the first COUNT characters of TEXT end. */
static size_t output_head_end(const char *text, size_t length, size_t count)
{
    size_t i = 0;

    for (; i < length; i++) {
        if (output_is_start(text[i]) && count-- == 0)
            break;
    }
    return i;
}

/* Where the last COUNT characters of TEXT start. */
static size_t output_tail_start(const char *text, size_t length, size_t count)
{
    size_t i = length;

    for (; i > 0 && count > 0; i--)
        count -= output_is_start(text[i - 1]);
    return i;
}

/* The end of the whole lines in the first LENGTH bytes of TEXT; the end of a part of a line if they
 * are less than half of LENGTH. */
static size_t output_whole_head(const char *text, size_t length)
{
    const char *newline = memrchr(text, '\n', length);
    size_t whole = newline ? (size_t)(newline + 1 - text) : 0;

    return whole < length / 2 ? length : whole;
}

/* The same for the start of the lines behind START. */
static size_t output_whole_tail(const char *text, size_t start, size_t length)
{
    const char *newline = memchr(text + start, '\n', length - start);
    size_t whole = newline ? (size_t)(newline + 1 - text) : length;

    if (start > 0 && text[start - 1] == '\n')
        return start;
    return length - whole < (length - start) / 2 ? start : whole;
}

/* The first HEAD bytes of TEXT, the gap, and the bytes behind TAIL. */
static char *output_join(const char *text, size_t head, size_t tail, size_t length,
                         size_t *ret_length)
{
    bool has_line_end = head == 0 || text[head - 1] == '\n';
    const char *gap = has_line_end ? OUTPUT_BUDGET_GAP : "\n" OUTPUT_BUDGET_GAP;
    char *joined = memory_new(head + strlen(gap) + (length - tail) + 1, 1);
    char *end = mempcpy(joined, text, head);

    end = mempcpy(end, gap, strlen(gap));
    end = mempcpy(end, text + tail, length - tail);
    *end = '\0';
    *ret_length = (size_t)(end - joined);
    return joined;
}

char *output_budget_cut(enum output_part part, const char *text, size_t length, size_t share,
                        size_t *ret_length)
{
    const size_t head_share = (size_t)((double)share * output_head_parts[part]);
    size_t head;
    size_t tail;

    if (output_budget_count(text, length) <= share)
        return NULL;
    head = output_whole_head(text, output_head_end(text, length, head_share));
    tail = output_whole_tail(text, output_tail_start(text, length, share - head_share), length);
    return output_join(text, head, tail, length, ret_length);
}
