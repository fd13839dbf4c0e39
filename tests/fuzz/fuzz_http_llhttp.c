/* Input: what a client sends. Our parser and llhttp, which is Node's, in its strict mode read the
 * same bytes. What we accept llhttp accepts, and it is the same request: method, target, fields and
 * where the body ends. What we refuse is of no interest. */
#undef NDEBUG
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/http/http_body.h"
#include "server/transport/http/http_head.h"

#include <assert.h>
#include <llhttp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT_BYTES = 1024 * 1024 };

/* What llhttp has found. */
struct other {
    struct buffer target;
    struct buffer fields; /* "NAME\0VALUE\0" each */
    struct buffer body;
    unsigned field_count;
    bool has_head;
    bool is_complete;
    bool is_chunked;
    uint64_t content_length;
};

static struct other *other_of(llhttp_t *parser)
{
    return parser->data;
}

static void append(struct buffer *buffer, const char *bytes, size_t length)
{
    struct error err = ERROR_INIT;

    assert(buffer_append(buffer, bytes, length, &err) == 0);
}

static int on_url(llhttp_t *parser, const char *bytes, size_t length)
{
    append(&other_of(parser)->target, bytes, length);
    return 0;
}

/* Fields behind the head are the trailer, which we drop. */
static int on_field(llhttp_t *parser, const char *bytes, size_t length)
{
    if (!other_of(parser)->has_head)
        append(&other_of(parser)->fields, bytes, length);
    return 0;
}

static int on_field_end(llhttp_t *parser)
{
    if (!other_of(parser)->has_head)
        append(&other_of(parser)->fields, "", 1);
    return 0;
}

/* A value is trimmed at its end by us only. */
static int on_value_end(llhttp_t *parser)
{
    struct buffer *fields = &other_of(parser)->fields;

    if (other_of(parser)->has_head)
        return 0;
    while (fields->data[fields->end - 1] == ' ' || fields->data[fields->end - 1] == '\t')
        fields->end--;
    other_of(parser)->field_count++;
    return on_field_end(parser);
}

static int on_head(llhttp_t *parser)
{
    struct other *other = other_of(parser);

    other->has_head = true;
    other->is_chunked = parser->flags & F_CHUNKED;
    other->content_length = parser->flags & F_CONTENT_LENGTH ? parser->content_length : 0;
    return 0;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t length)
{
    append(&other_of(parser)->body, bytes, length);
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    other_of(parser)->is_complete = true;
    return HPE_PAUSED;
}

static void other_init(struct other *other)
{
    *other = (struct other){0};
    buffer_init(&other->target, LIMIT_BYTES);
    buffer_init(&other->fields, LIMIT_BYTES);
    buffer_init(&other->body, LIMIT_BYTES);
}

static void other_deinit(struct other *other)
{
    buffer_deinit(&other->target);
    buffer_deinit(&other->fields);
    buffer_deinit(&other->body);
}

/* How many bytes llhttp used; it must not refuse any. */
static size_t run_other(llhttp_t *parser, const char *bytes, size_t length)
{
    llhttp_errno_t error = llhttp_execute(parser, bytes, length);

    assert(error == HPE_OK || error == HPE_PAUSED || error == HPE_PAUSED_UPGRADE);
    if (error == HPE_OK)
        return length;
    assert(other_of(parser)->is_complete);
    return (size_t)(llhttp_get_error_pos(parser) - bytes);
}

static void compare_fields(const struct http_head *head, const struct other *other)
{
    const char *field = buffer_bytes(&other->fields);

    assert(head->field_count == other->field_count);
    for (unsigned i = 0; i < head->field_count; i++) {
        assert(strcmp(head->fields[i].name, field) == 0);
        field += strlen(field) + 1;
        assert(strcmp(head->fields[i].value, field) == 0);
        field += strlen(field) + 1;
    }
}

static void compare_heads(const struct http_head *head, llhttp_t *parser)
{
    struct other *other = other_of(parser);
    AUTO_FREE char *target =
        memory_format("%s%s%s", head->path, head->query ? "?" : "", head->query ? head->query : "");

    assert(other->has_head);
    assert(strcmp(head->method, llhttp_method_name(parser->method)) == 0);
    assert(parser->http_major == 1 && parser->http_minor == head->minor);
    assert(strlen(target) == buffer_length(&other->target));
    assert(memcmp(target, buffer_bytes(&other->target), strlen(target)) == 0);
    assert(head->is_chunked == other->is_chunked);
    assert(head->content_length == other->content_length);
    compare_fields(head, other);
}

/* A body that is not whole has been accepted by nobody. */
static void compare_bodies(const struct http_head *head, const char *bytes, size_t length,
                           llhttp_t *parser)
{
    struct other *other = other_of(parser);
    struct http_body body;
    enum http_body_state state;
    size_t used = 0;

    http_body_init(&body);
    http_body_begin(&body, head, LIMIT_BYTES / 2);
    state = http_body_feed(&body, bytes, length, &used);
    if (state == HTTP_BODY_COMPLETE) {
        assert(other->is_complete ? used == 0 : run_other(parser, bytes, used) == used);
        assert(other->is_complete);
        assert(buffer_length(&body.bytes) == buffer_length(&other->body));
        assert(buffer_length(&body.bytes) == 0 ||
               memcmp(buffer_bytes(&body.bytes), buffer_bytes(&other->body),
                      buffer_length(&body.bytes)) == 0);
    } else if (state == HTTP_BODY_PARTIAL) {
        (void)llhttp_execute(parser, bytes, used);
        assert(!other->is_complete);
    }
    http_body_deinit(&body);
}

static void compare(const struct http_head *head, const char *bytes, size_t length,
                    size_t head_length)
{
    llhttp_settings_t settings;
    struct other other;
    llhttp_t parser;

    other_init(&other);
    llhttp_settings_init(&settings);
    settings.on_url = on_url;
    settings.on_header_field = on_field;
    settings.on_header_field_complete = on_field_end;
    settings.on_header_value = on_field;
    settings.on_header_value_complete = on_value_end;
    settings.on_headers_complete = on_head;
    settings.on_body = on_body;
    settings.on_message_complete = on_complete;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = &other;
    assert(run_other(&parser, bytes, head_length) == head_length);
    compare_heads(head, &parser);
    compare_bodies(head, bytes + head_length, length - head_length, &parser);
    other_deinit(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *copy = NULL;
    struct http_head head;
    size_t scanned = 0;
    ssize_t length = http_head_find_end((const char *)data, size, &scanned);

    if (length <= 0)
        return 0;
    copy = memory_new((size_t)length, 1);
    memcpy(copy, data, (size_t)length);
    if (http_head_parse(copy, (size_t)length, &head) == 0)
        compare(&head, (const char *)data, size, (size_t)length);
    return 0;
}
