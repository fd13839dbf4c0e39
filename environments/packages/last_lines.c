#include "environments/packages/last_lines.h"

#include "base/printable.h"

#include <string.h>

/* Keeps the line instead of the oldest ones. */
static void keep(struct last_lines *lines)
{
    size_t length = strlen(lines->line) + 1;
    size_t dropped = 0;

    while (lines->kept_length - dropped + length > LAST_LINES_BYTES) {
        const char *end = memchr(lines->kept + dropped, '\n', lines->kept_length - dropped);

        dropped = (size_t)(end + 1 - lines->kept);
    }
    lines->kept_length -= dropped;
    memmove(lines->kept, lines->kept + dropped, lines->kept_length);
    memcpy(lines->kept + lines->kept_length, lines->line, length - 1);
    lines->kept_length += length;
    lines->kept[lines->kept_length - 1] = '\n';
}

static void end_line(struct last_lines *lines)
{
    while (lines->line_length > 0 && strchr(" \t", lines->line[lines->line_length - 1]))
        lines->line_length--;
    lines->line[lines->line_length] = '\0';
    lines->line_length = 0;
    if (!*lines->line)
        return;
    printable_clean(lines->line);
    keep(lines);
    if (lines->said)
        lines->said(lines, lines->line);
}

void last_lines_feed(struct last_lines *lines, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] == '\n' || data[i] == '\r')
            end_line(lines);
        else if (lines->line_length < LAST_LINES_LINE && data[i])
            lines->line[lines->line_length++] = data[i];
}

const char *last_lines_end(struct last_lines *lines)
{
    end_line(lines);
    lines->kept[lines->kept_length > 0 ? lines->kept_length - 1 : 0] = '\0';
    return lines->kept;
}
