/* Input: what a client sends. Where its head ends does not depend on the pieces it comes in, and
 * what is read from it is clean: names are tokens, values have no line break, nothing lies outside
 * of the head. */
#undef NDEBUG
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/http/http_head.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The length of the head as it is found when one byte follows the other. */
static ssize_t find_end_bytewise(const char *data, size_t size)
{
    size_t scanned = 0;
    ssize_t end = 0;

    for (size_t length = 0; length <= size && end == 0; length++)
        end = http_head_find_end(data, length, &scanned);
    return end;
}

static void check_inside(const char *string, const char *text, size_t length)
{
    assert(string >= text && string + strlen(string) < text + length);
}

static void check_field(const struct http_field *field, const char *text, size_t length)
{
    size_t value = strlen(field->value);

    check_inside(field->name, text, length);
    check_inside(field->value, text, length);
    assert(*field->name);
    for (const char *i = field->name; *i; i++)
        assert(http_is_token(*i));
    for (const char *i = field->value; *i; i++)
        assert((unsigned char)*i >= ' ' || *i == '\t');
    assert(value == 0 || (field->value[0] != ' ' && field->value[value - 1] != ' '));
}

static void check(const struct http_head *head, const char *text, size_t length)
{
    check_inside(head->method, text, length);
    check_inside(head->path, text, length);
    assert(head->path[0] == '/');
    if (head->query)
        check_inside(head->query, text, length);
    assert(head->minor <= 1 && head->field_count <= HTTP_HEAD_FIELDS);
    assert(!(head->is_chunked && head->content_length > 0));
    for (unsigned i = 0; i < head->field_count; i++)
        check_field(&head->fields[i], text, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    AUTO_FREE char *text = NULL;
    struct http_head head;
    size_t scanned = 0;
    ssize_t end = http_head_find_end(bytes, size, &scanned);
    size_t length = end > 0 ? (size_t)end : size;

    assert(find_end_bytewise(bytes, size) == end);
    text = memory_new(length + 1, 1);
    memcpy(text, bytes, length);
    /* Of what was found to be no head the parser must know it, too. */
    if (http_head_parse(text, length, &head) == 0) {
        assert(end > 0);
        check(&head, text, length);
    } else {
        assert(head.problem);
    }
    return 0;
}
