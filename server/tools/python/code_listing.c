#include "server/tools/python/code_listing.h"

#include "base/buffer.h"
#include "base/utf8.h"
#include "base/visible.h"

#include <stdbool.h>
#include <string.h>

enum {
    LINE_COLUMNS = 120,
};

/* The length of the line break at the start of TEXT (LF, CR LF or CR, as in Python), or 0. */
static size_t line_break(const char *text, size_t length)
{
    if (*text == '\r')
        return length > 1 && text[1] == '\n' ? 2 : 1;
    return *text == '\n';
}

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 0;
    bool is_begun = false;

    for (size_t i = 0; i < length;) {
        size_t bytes = line_break(text + i, length - i);

        is_begun = bytes == 0;
        lines += !is_begun;
        i += is_begun ? 1 : bytes;
    }
    return lines + is_begun;
}

/* The bytes between HEAD and TAIL are not shown. */
struct cut {
    size_t head;
    size_t tail;
};

static struct cut code_listing_find_cut(const char *text, size_t length)
{
    if (length <= LISTING_WHOLE_BYTES)
        return (struct cut){length, length};
    return (struct cut){
        .head = utf8_boundary_before(text, LISTING_HEAD_BYTES),
        .tail = utf8_boundary_before(text, length - LISTING_TAIL_BYTES),
    };
}

struct code_listing code_listing_measure(const char *text, size_t length)
{
    const struct cut cut = code_listing_find_cut(text, length);

    return (struct code_listing){
        .lines = count_lines(text, length),
        .left_out = cut.tail - cut.head,
    };
}

struct writer {
    struct buffer *buffer; /* borrowed */
    int digits;            /* of the largest line number */
    size_t line;
    size_t column;
    bool is_begun; /* the line number is written */
};

static void begin_line(struct writer *writer)
{
    if (!writer->is_begun)
        buffer_print(writer->buffer, "    %*zu | ", writer->digits, writer->line);
    else if (writer->column >= LINE_COLUMNS)
        buffer_print(writer->buffer, "\n    %*s : ", writer->digits, "");
    else
        return;
    writer->is_begun = true;
    writer->column = 0;
}

static void code_listing_end_line(struct writer *writer)
{
    buffer_print(writer->buffer, "\n");
    writer->line++;
    writer->is_begun = false;
}

/* The length of the line break or character that was written. */
static size_t write_character(struct writer *writer, const char *text, size_t length)
{
    size_t bytes = line_break(text, length);
    char shown[VISIBLE_BYTES] = "\t";

    begin_line(writer);
    if (bytes > 0) {
        code_listing_end_line(writer);
        return bytes;
    }
    bytes = *text == '\t' ? 1 : visible_character(text, length, shown);
    buffer_print(writer->buffer, "%s", shown);
    writer->column += bytes == 1 || *shown == '<' ? strlen(shown) : 2;
    return bytes;
}

static void write_part(struct writer *writer, const char *text, size_t length)
{
    for (size_t i = 0; i < length;)
        i += write_character(writer, text + i, length - i);
}

/* Skips LENGTH bytes of TEXT that are not shown. */
static void leave_out(struct writer *writer, const char *text, size_t length)
{
    if (writer->is_begun)
        buffer_print(writer->buffer, "\n");
    buffer_print(writer->buffer, "\n[%zu bytes are not shown here, from line %zu on]\n\n", length,
                 writer->line);
    for (size_t i = 0; i < length;) {
        size_t bytes = line_break(text + i, length - i);

        writer->line += bytes > 0;
        i += bytes > 0 ? bytes : 1;
    }
    writer->is_begun = false;
}

void code_listing_append(struct buffer *buffer, const char *text, size_t length)
{
    const size_t lines = count_lines(text, length);
    const struct cut cut = code_listing_find_cut(text, length);
    struct writer writer = {.buffer = buffer, .line = 1};

    for (size_t rest = lines; rest > 0; rest /= 10)
        writer.digits++;
    write_part(&writer, text, cut.head);
    if (cut.tail > cut.head)
        leave_out(&writer, text + cut.head, cut.tail - cut.head);
    write_part(&writer, text + cut.tail, length - cut.tail);
    if (writer.is_begun)
        buffer_print(buffer, "\n");
}
