#include "environments/engine/json_lines.h"

#include "base/json.h"

#include <string.h>

void json_lines_init(struct json_lines *lines)
{
    buffer_init(&lines->incoming, JSON_LINE_BYTES);
}

void json_lines_deinit(struct json_lines *lines)
{
    buffer_deinit(&lines->incoming);
}

static bool json_lines_is_blank(const char *line, size_t length)
{
    while (length > 0 && strchr(" \r\n\t", line[length - 1]))
        length--;
    return length == 0;
}

/* Hands over the first LENGTH bytes and drops them. */
static int json_lines_take_line(struct json_lines *lines, size_t length, struct error *err)
{
    AUTO_JSON json_t *value = NULL;
    bool blank = json_lines_is_blank(buffer_bytes(&lines->incoming), length);

    if (!blank)
        value = json_loadb(buffer_bytes(&lines->incoming), length, 0, NULL);
    buffer_consume(&lines->incoming, length);
    if (blank)
        return 0;
    if (!json_is_object(value))
        return error_set(err, ERROR_SYSTEM, "the Docker engine's report is garbled");
    lines->line(lines, value);
    return 0;
}

static int json_lines_append(struct json_lines *lines, const char *data, size_t length,
                             struct error *err)
{
    if (buffer_append(&lines->incoming, data, length, err) < 0)
        return error_prefix(err, "a line of the Docker engine's report");
    return 0;
}

int json_lines_feed(struct json_lines *lines, const char *data, size_t length, struct error *err)
{
    const char *end;

    while (length > 0 && (end = memchr(data, '\n', length))) {
        size_t taken = (size_t)(end + 1 - data);

        if (json_lines_append(lines, data, taken, err) < 0 ||
            json_lines_take_line(lines, buffer_length(&lines->incoming), err) < 0)
            return -1;
        data += taken;
        length -= taken;
    }
    return length > 0 ? json_lines_append(lines, data, length, err) : 0;
}

int json_lines_end(struct json_lines *lines, struct error *err)
{
    size_t length = buffer_length(&lines->incoming);

    return length > 0 ? json_lines_take_line(lines, length, err) : 0;
}
