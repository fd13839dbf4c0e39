#include "server/tools/plain_text.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ESCAPE = 0x1B,
    C1_LEAD = 0xC2,         /* the first byte of U+0080 to U+009F, which stand for ESC @ to ESC _ */
    STRING_BYTES = 4096,    /* a longer control string is none */
    REPETITION_BYTES = 256, /* fewer bytes of equal lines are shown as they are */
};

/* Text that is being made. It is never longer than its source. */
struct plain_text {
    char *bytes; /* owned by the caller */
    size_t length;
    size_t line;       /* where the current line starts */
    bool is_returned;  /* the next character starts the current line anew */
    bool is_rewritten; /* the current line was started anew */
};

static struct plain_text plain_text_new(size_t length)
{
    return (struct plain_text){.bytes = memory_new(length + 1, 1)};
}

static char *plain_text_take(const struct plain_text *plain, size_t *ret_length)
{
    plain->bytes[plain->length] = '\0';
    *ret_length = plain->length;
    return plain->bytes;
}

static void plain_text_copy(struct plain_text *plain, const char *text, size_t length)
{
    memcpy(plain->bytes + plain->length, text, length);
    plain->length += length;
}

/* Control sequences (ECMA-48). Each function returns a length. */

static bool plain_text_is_between(char byte, unsigned char first, unsigned char last)
{
    return (unsigned char)byte >= first && (unsigned char)byte <= last;
}

/* Parameters, intermediate bytes and the final byte. */
static size_t plain_text_parameters(const char *text, size_t length)
{
    size_t end = 0;

    while (end < length && plain_text_is_between(text[end], 0x20, 0x3F))
        end++;
    return end < length && plain_text_is_between(text[end], 0x40, 0x7E) ? end + 1 : end;
}

/* True when TEXT starts with ESC or with the C1 form of a sequence. */
static bool plain_text_is_introducer(const char *text, size_t length)
{
    return text[0] == ESCAPE || ((unsigned char)text[0] == C1_LEAD && length > 1 &&
                                 plain_text_is_between(text[1], 0x80, 0x9F));
}

/* Up to its terminator in the same line; 0: it has none. Another sequence ends it, too, so that no
 * byte is looked at for more than one string. */
static size_t plain_text_string(const char *text, size_t length)
{
    for (size_t i = 0; i < length && i < STRING_BYTES && text[i] != '\n'; i++) {
        if (text[i] == '\a')
            return i + 1;
        if (plain_text_is_introducer(text + i, length - i))
            return i + 1 < length && (text[i + 1] == '\\' || text[i + 1] == '\x9C') ? i + 2 : 0;
    }
    return 0;
}

/* The length of the rest of a sequence, behind ESC (or its C1 form) and KIND. */
static size_t plain_text_rest(char kind, const char *text, size_t length)
{
    if (kind == '[')
        return plain_text_parameters(text, length);
    return memchr("]P^_X", kind, 5) ? plain_text_string(text, length) : 0;
}

/* The sequence that TEXT starts with; 0: it starts with a character. */
static size_t plain_text_sequence(const char *text, size_t length)
{
    size_t end = 1;

    if (text[0] != ESCAPE && plain_text_is_introducer(text, length))
        return 2 + plain_text_rest((char)((unsigned char)text[1] - 0x40), text + 2, length - 2);
    if (text[0] != ESCAPE)
        return iscntrl((unsigned char)text[0]) ? 1 : 0;
    if (length > 1 && memchr("[]P^_X", text[1], 6))
        return 2 + plain_text_rest(text[1], text + 2, length - 2);
    while (end < length && plain_text_is_between(text[end], 0x20, 0x2F))
        end++;
    return end < length && plain_text_is_between(text[end], 0x30, 0x7E) ? end + 1 : end;
}

/* Lines */

static void plain_text_put(struct plain_text *plain, const char *text, size_t length)
{
    if (plain->is_returned) {
        plain->length = plain->line;
        plain->is_rewritten = true;
        plain->is_returned = false;
    }
    plain_text_copy(plain, text, length);
}

static void plain_text_erase_character(struct plain_text *plain)
{
    bool is_part = true;

    while (is_part && plain->length > plain->line && !plain->is_returned)
        is_part = plain_text_is_between(plain->bytes[--plain->length], 0x80, 0xBF);
}

/* Removes the blanks at the end of a rewritten line, which only cover its earlier states. */
static void plain_text_finish_line(struct plain_text *plain)
{
    while (plain->is_rewritten && plain->length > plain->line &&
           plain->bytes[plain->length - 1] == ' ')
        plain->length--;
    plain->is_rewritten = false;
    plain->is_returned = false;
}

static void plain_text_end_line(struct plain_text *plain)
{
    plain_text_finish_line(plain);
    plain->bytes[plain->length++] = '\n';
    plain->line = plain->length;
}

/* How many bytes TEXT has, whose first one is of a character, before what may be something else. */
static size_t plain_text_characters(const char *text, size_t length)
{
    size_t end = 1;

    while (end < length && !plain_text_is_between(text[end], 0, 0x1F) && text[end] != 0x7F &&
           (unsigned char)text[end] != C1_LEAD)
        end++;
    return end;
}

/* Takes what TEXT starts with; returns its length. */
static size_t plain_text_step(struct plain_text *plain, const char *text, size_t length)
{
    size_t taken;

    switch (*text) {
    case '\n':
        plain_text_end_line(plain);
        return 1;
    case '\r':
        plain->is_returned = true;
        return 1;
    case '\b':
        plain_text_erase_character(plain);
        return 1;
    case '\t':
        plain_text_put(plain, text, 1);
        return 1;
    default:
        taken = plain_text_sequence(text, length);
        if (taken > 0)
            return taken;
        taken = plain_text_characters(text, length);
        plain_text_put(plain, text, taken);
        return taken;
    }
}

char *plain_text_clean(const char *text, size_t length, size_t *ret_length)
{
    struct plain_text plain = plain_text_new(length);

    for (size_t i = 0; i < length;)
        i += plain_text_step(&plain, text + i, length - i);
    plain_text_finish_line(&plain);
    return plain_text_take(&plain, ret_length);
}

/* Repetitions */

/* The length of the line that TEXT starts with, without its newline. */
static size_t plain_text_line(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);

    return end ? (size_t)(end - text) : length;
}

/* The bytes after the first LINE bytes of TEXT that repeat them, and in *RET_COUNT how often. */
static size_t plain_text_repetition(const char *text, size_t length, size_t line, size_t *ret_count)
{
    size_t end = line + 1;

    *ret_count = 0;
    while (end < length && plain_text_line(text + end, length - end) == line &&
           memcmp(text, text + end, line) == 0) {
        end += line + 1;
        ++*ret_count;
    }
    return end < length ? end : length;
}

char *plain_text_collapse(const char *text, size_t length, size_t *ret_length)
{
    struct plain_text plain = plain_text_new(length);

    for (size_t i = 0; i < length;) {
        size_t line = plain_text_line(text + i, length - i);
        size_t count;
        size_t bytes = plain_text_repetition(text + i, length - i, line, &count);

        if (count * (line + 1) < REPETITION_BYTES) {
            plain_text_copy(&plain, text + i, bytes);
        } else {
            plain_text_copy(&plain, text + i, line + 1);
            plain.length += (size_t)snprintf(plain.bytes + plain.length, REPETITION_BYTES,
                                             "... [%zu more lines like this] ...\n", count);
        }
        i += bytes;
    }
    return plain_text_take(&plain, ret_length);
}

/* Names of files */

/* True when the text at PLACE of TEXT is where a traceback or a warning names a file. NAME is what
 * follows the directory. */
static bool plain_text_names_file(const char *text, const char *place, const char *name,
                                  size_t length)
{
    static const char frame[] = "File \"";
    const size_t before = (size_t)(place - text);
    const char *colon;

    if (before >= strlen(frame) && memcmp(place - strlen(frame), frame, strlen(frame)) == 0)
        return true;
    if (before > 0 && place[-1] != '\n')
        return false;
    colon = memchr(name, ':', plain_text_line(name, length));
    return colon && colon - name > 3 && memcmp(colon - 3, ".py", 3) == 0;
}

char *plain_text_shorten(const char *text, size_t length, const char *directory, size_t *ret_length)
{
    struct plain_text plain = plain_text_new(length);
    AUTO_FREE char *prefix = memory_format("%s/", directory);
    const size_t skipped = strlen(prefix);
    const char *rest = text;
    const char *end = text + length;
    const char *place;

    while ((place = memmem(rest, (size_t)(end - rest), prefix, skipped))) {
        const char *name = place + skipped;
        bool is_file = plain_text_names_file(text, place, name, (size_t)(end - name));

        plain_text_copy(&plain, rest, (size_t)((is_file ? place : name) - rest));
        rest = name;
    }
    plain_text_copy(&plain, rest, (size_t)(end - rest));
    return plain_text_take(&plain, ret_length);
}
