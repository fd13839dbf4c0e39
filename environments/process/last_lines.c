#include "environments/process/last_lines.h"

#include "base/printable.h"

#include <string.h>

/* Keeps LINE instead of the oldest lines. */
static void last_lines_keep(struct last_lines *lines, const char *line)
{
    size_t length = strlen(line) + 1;
    size_t dropped = 0;

    while (lines->kept_length - dropped + length > LAST_LINES_BYTES) {
        const char *end = memchr(lines->kept + dropped, '\n', lines->kept_length - dropped);

        dropped = (size_t)(end + 1 - lines->kept);
    }
    lines->kept_length -= dropped;
    memmove(lines->kept, lines->kept + dropped, lines->kept_length);
    memcpy(lines->kept + lines->kept_length, line, length - 1);
    lines->kept_length += length;
    lines->kept[lines->kept_length - 1] = '\n';
}

static void last_lines_end_line(struct last_lines *lines, int stream)
{
    char *line = lines->begun[stream].text;
    size_t length = lines->begun[stream].length;

    while (length > 0 && strchr(" \t", line[length - 1]))
        length--;
    line[length] = '\0';
    lines->begun[stream].length = 0;
    if (!*line)
        return;
    printable_clean(line);
    last_lines_keep(lines, line);
    if (lines->said)
        lines->said(lines, line);
}

void last_lines_feed(struct last_lines *lines, int stream, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] == '\n' || data[i] == '\r')
            last_lines_end_line(lines, stream);
        else if (lines->begun[stream].length < LAST_LINES_LINE && data[i])
            lines->begun[stream].text[lines->begun[stream].length++] = data[i];
}

const char *last_lines_end(struct last_lines *lines)
{
    for (int i = 0; i < LAST_LINES_STREAMS; i++)
        last_lines_end_line(lines, i);
    lines->kept[lines->kept_length > 0 ? lines->kept_length - 1 : 0] = '\0';
    return lines->kept;
}
