/* Input: a byte that says which of id, name and retry there are, a line for each, and the data of
 * an event. Read as the HTML standard (9.2.6) says, what is written has the same data, but that all
 * its line breaks are \n, and nothing else. */
#undef NDEBUG
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/http/http_event.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HAS_ID = 1,
    HAS_NAME = 2,
    HAS_RETRY = 4,
    LIMIT_BYTES = 1024 * 1024,
};

/* What a client makes of a stream. */
struct reading {
    struct buffer data;
    char *id;
    char *name;
    char *retry;
    unsigned events;
};

static void append(struct buffer *buffer, const char *bytes, size_t length)
{
    struct error err = ERROR_INIT;

    assert(buffer_append(buffer, bytes, length, &err) == 0);
}

/* True when LINE is the field NAME; *RET_VALUE is what it says. */
static bool is_field(const char *line, size_t length, const char *name, const char **ret_value,
                     size_t *ret_length)
{
    size_t skipped = strlen(name) + 1;

    if (length < skipped || memcmp(line, name, skipped - 1) != 0 || line[skipped - 1] != ':')
        return false;
    if (length > skipped && line[skipped] == ' ')
        skipped++;
    *ret_value = line + skipped;
    *ret_length = length - skipped;
    return true;
}

static void set(char **field, const char *value, size_t length)
{
    assert(!*field);
    *field = memory_new(length + 1, 1);
    memcpy(*field, value, length);
}

static void read_line(struct reading *reading, const char *line, size_t length)
{
    const char *value;
    size_t value_length;

    if (length == 0) {
        reading->events++;
    } else if (is_field(line, length, "data", &value, &value_length)) {
        append(&reading->data, value, value_length);
        append(&reading->data, "\n", 1);
    } else if (is_field(line, length, "id", &value, &value_length)) {
        set(&reading->id, value, value_length);
    } else if (is_field(line, length, "event", &value, &value_length)) {
        set(&reading->name, value, value_length);
    } else {
        assert(is_field(line, length, "retry", &value, &value_length));
        set(&reading->retry, value, value_length);
    }
}

/* Lines end in \n, \r or \r\n. */
static void read_stream(struct reading *reading, const char *bytes, size_t length)
{
    size_t start = 0;

    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\r')
            continue;
        read_line(reading, bytes + start, i - start);
        if (bytes[i] == '\r' && i + 1 < length && bytes[i + 1] == '\n')
            i++;
        start = i + 1;
    }
    assert(start == length);
}

/* DATA with all line breaks made \n, and one at the end. */
static void normalise(const char *data, size_t length, struct buffer *out)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] == '\r' && i + 1 < length && data[i + 1] == '\n')
            continue;
        append(out, data[i] == '\r' ? "\n" : data + i, 1);
    }
    append(out, "\n", 1);
}

static bool is_same(const char *field, const char *wanted)
{
    return wanted ? field && strcmp(field, wanted) == 0 : !field;
}

static void check(const struct http_event *event, const struct buffer *written)
{
    struct reading reading = {0};
    struct buffer wanted;
    char retry[32];

    buffer_init(&reading.data, LIMIT_BYTES);
    buffer_init(&wanted, LIMIT_BYTES);
    snprintf(retry, sizeof retry, "%u", event->retry);
    read_stream(&reading, buffer_bytes(written), buffer_length(written));
    normalise(event->data, event->length, &wanted);
    assert(reading.events == 1);
    assert(is_same(reading.id, event->id) && is_same(reading.name, event->name));
    assert(is_same(reading.retry, event->retry ? retry : NULL));
    assert(buffer_length(&reading.data) == buffer_length(&wanted));
    assert(memcmp(buffer_bytes(&reading.data), buffer_bytes(&wanted), buffer_length(&wanted)) == 0);
    buffer_deinit(&reading.data);
    buffer_deinit(&wanted);
    free(reading.id);
    free(reading.name);
    free(reading.retry);
}

/* The first line of what is left, as a string of its own. */
static char *take_line(const char **data, size_t *length)
{
    const char *newline = memchr(*data, '\n', *length);
    size_t line = newline ? (size_t)(newline - *data) : *length;
    char *copy = memory_new(line + 1, 1);

    memcpy(copy, *data, line);
    copy[strcspn(copy, "\r")] = '\0';
    *data += newline ? line + 1 : line;
    *length -= newline ? line + 1 : line;
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_event event = {0};
    struct error err = ERROR_INIT;
    AUTO_FREE char *id = NULL;
    AUTO_FREE char *name = NULL;
    struct buffer out;

    if (size == 0)
        return 0;
    event.data = (const char *)data + 1;
    event.length = size - 1;
    event.retry = data[0] & HAS_RETRY ? data[0] : 0;
    if (data[0] & HAS_ID)
        event.id = id = take_line(&event.data, &event.length);
    if (data[0] & HAS_NAME)
        event.name = name = take_line(&event.data, &event.length);
    buffer_init(&out, LIMIT_BYTES);
    assert(http_event_append(&event, &out, &err) == 0);
    assert(buffer_length(&out) == http_event_length(&event));
    check(&event, &out);
    buffer_deinit(&out);
    return 0;
}
