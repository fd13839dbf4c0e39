#include "server/tools/code/code_fence.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { FENCE_CHARACTERS = 3 };

/* A piece of the code. */
struct code_span {
    const char *start;
    const char *end;
};

static bool code_fence_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A byte order mark is left before the code, as Python takes it. */
static struct code_span code_fence_trim(struct code_span span)
{
    static const char mark[] = "\xEF\xBB\xBF";

    if (span.end - span.start >= 3 && memcmp(span.start, mark, 3) == 0)
        span.start += 3;
    while (span.start < span.end && code_fence_is_blank(*span.start))
        span.start++;
    while (span.start < span.end && code_fence_is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* How many fence characters SPAN begins with; 0 if they are too few. */
static size_t code_fence_width(struct code_span span)
{
    const char *at = span.start;

    while (at < span.end && *at == *span.start && (*at == '`' || *at == '~'))
        at++;
    return at - span.start < FENCE_CHARACTERS ? 0 : (size_t)(at - span.start);
}

const char *code_fence_language(const char *info, size_t length, size_t *ret_length)
{
    const char *end = info + length;
    const char *word = info;

    while (word < end && strchr(" \t\r\n{.", *word) && *word)
        word++;
    *ret_length = 0;
    while (word + *ret_length < end && !strchr(" \t\r\n:,{}", word[*ret_length]))
        ++*ret_length;
    return word;
}

/* True when INFO means Python; without a language it does, too. */
static bool code_fence_is_python(struct code_span info)
{
    static const char *const words[] = {"", "python", "python3", "py"};
    size_t length;
    const char *word = code_fence_language(info.start, (size_t)(info.end - info.start), &length);

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strlen(words[i]) == length && strncasecmp(word, words[i], length) == 0)
            return true;
    return false;
}

/* The line that begins or ends at a place. */
static struct code_span code_fence_first_line(struct code_span span)
{
    const char *newline = memchr(span.start, '\n', (size_t)(span.end - span.start));

    return (struct code_span){span.start, newline ? newline : span.end};
}

static struct code_span code_fence_last_line(struct code_span span)
{
    const char *newline = memrchr(span.start, '\n', (size_t)(span.end - span.start));

    return (struct code_span){newline ? newline + 1 : span.start, span.end};
}

/* True when LINE closes what WIDTH characters like OPENING's have opened. */
static bool code_fence_closes(struct code_span line, struct code_span opening, size_t width)
{
    const size_t own = code_fence_width(line);

    return own >= width && *line.start == *opening.start && own == (size_t)(line.end - line.start);
}

char *code_fence_remove(const char *code, size_t length, size_t *ret_length)
{
    const struct code_span all = {code, code + length};
    const struct code_span whole = code_fence_trim(all);
    const struct code_span opening = code_fence_first_line(whole);
    const struct code_span closing = code_fence_last_line(whole);
    const size_t width = code_fence_width(opening);
    const struct code_span info = {opening.start + width, opening.end};
    char *ret;

    if (width == 0 || closing.start <= opening.start || !code_fence_is_python(info) ||
        !code_fence_closes(closing, opening, width))
        return NULL;
    *ret_length = (size_t)(closing.start - code);
    ret = memory_new(*ret_length + 1, 1);
    memcpy(ret, code, *ret_length);
    memset(ret + (opening.start - code), ' ', (size_t)(opening.end - opening.start));
    return ret;
}
