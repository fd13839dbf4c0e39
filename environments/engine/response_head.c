#include "environments/engine/response_head.h"

#include "base/ascii.h"
#include "base/memory.h"

#include <string.h>
#include <strings.h>

enum {
    STATUS_AT = sizeof "HTTP/1.x " - 1,
    STATUS_DIGITS = 3,
    STATUS_SMALLEST = 100,
    STATUS_LARGEST = 599,
    LENGTH_DIGITS = 15,
};

static int response_head_garbled(struct error *err)
{
    return error_set(err, ERROR_SYSTEM, "the Docker engine's answer is no HTTP/1.1");
}

static int parse_status(const char *line, size_t length, struct response_head *ret)
{
    const char *digits = line + STATUS_AT;

    if (length < STATUS_AT + STATUS_DIGITS || memcmp(line, "HTTP/1.", 7) != 0 ||
        !ascii_is_digit(line[7]) || line[8] != ' ' || !ascii_is_digit(digits[0]) ||
        !ascii_is_digit(digits[1]) || !ascii_is_digit(digits[2]) ||
        (length > STATUS_AT + STATUS_DIGITS && digits[STATUS_DIGITS] != ' '))
        return -1;
    ret->status = (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
    return ret->status < STATUS_SMALLEST || ret->status > STATUS_LARGEST ? -1 : 0;
}

static int parse_length(const char *value, size_t length, struct response_head *ret)
{
    size_t number = 0;

    if (length == 0 || length > LENGTH_DIGITS || ret->has_length)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (!ascii_is_digit(value[i]))
            return -1;
        number = number * 10 + (size_t)(value[i] - '0');
    }
    ret->has_length = true;
    ret->body_length = number;
    return 0;
}

static int note_transformed(const char *value, size_t length, struct response_head *ret)
{
    (void)value;
    (void)length;
    ret->is_transformed = true;
    return 0;
}

static const struct {
    const char *name;
    int (*note)(const char *value, size_t length, struct response_head *ret);
} headers[] = {
    {"content-length", parse_length},
    {"transfer-encoding", note_transformed},
};

static bool is_token(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~' || strchr("\"(),/:;<=>?@[\\]{}", text[i]))
            return false;
    return length > 0;
}

static bool response_head_is_value(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' ? text[i] != '\t' : text[i] == '\x7f')
            return false;
    return true;
}

static int parse_header(const char *line, size_t length, struct response_head *ret)
{
    const char *colon = memchr(line, ':', length);
    const char *value = colon ? colon + 1 : line;
    size_t name_length = colon ? (size_t)(colon - line) : 0;
    size_t value_length = colon ? length - name_length - 1 : 0;

    if (!is_token(line, name_length) || !response_head_is_value(value, value_length))
        return -1;
    for (; value_length && ascii_is_blank(value[0]); value_length--)
        value++;
    while (value_length && ascii_is_blank(value[value_length - 1]))
        value_length--;
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        if (strlen(headers[i].name) == name_length &&
            strncasecmp(line, headers[i].name, name_length) == 0)
            return headers[i].note(value, value_length, ret);
    return 0;
}

/* LENGTH ends with the last line's CRLF. */
static int parse_lines(const char *data, size_t length, struct response_head *ret)
{
    const char *end = memmem(data, length, "\r\n", 2);

    if (parse_status(data, (size_t)(end - data), ret) < 0 ||
        !response_head_is_value(data, (size_t)(end - data)))
        return -1;
    for (const char *line = end + 2; line < data + length; line = end + 2) {
        end = memmem(line, (size_t)(data + length - line), "\r\n", 2);
        if (parse_header(line, (size_t)(end - line), ret) < 0)
            return -1;
    }
    return 0;
}

int response_head_parse(const char *data, size_t length, struct response_head *ret,
                        struct error *err)
{
    const char *end = length ? memmem(data, length, "\r\n\r\n", 4) : NULL;
    struct response_head head = {0};

    if (!end && length < RESPONSE_HEAD_BYTES)
        return 0;
    if (!end || (size_t)(end - data) > RESPONSE_HEAD_BYTES ||
        parse_lines(data, (size_t)(end + 2 - data), &head) < 0)
        return response_head_garbled(err);
    head.length = (size_t)(end + 4 - data);
    *ret = head;
    return 1;
}
