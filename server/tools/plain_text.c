#include "server/tools/plain_text.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/tools/line_states.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ESCAPE = 0x1B,
    C1_LEAD = 0xC2,         /* the first byte of U+0080 to U+009F */
    ESCAPED_BYTES = 4,      /* of a control character that is shown: \\x85 */
    STRING_BYTES = 4096,    /* a longer control string is none */
    SCREEN_LINES = 100,     /* as far as the cursor goes up */
    REPETITION_BYTES = 256, /* fewer bytes of equal lines are shown as they are */
};

/* Text that is being made. It is never longer than its source. */
struct plain_text {
    char *bytes; /* owned by the caller */
    size_t length;
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

/* Up to its terminator in the same line; 0: it has none. Another sequence ends it, too, so that no
 * byte is looked at for more than one string. */
static size_t plain_text_string(const char *text, size_t length)
{
    for (size_t i = 0; i < length && i < STRING_BYTES && text[i] != '\n'; i++) {
        if (text[i] == '\a')
            return i + 1;
        if (text[i] == ESCAPE)
            return i + 1 < length && text[i + 1] == '\\' ? i + 2 : 0;
    }
    return 0;
}

/* The length of the rest of a sequence, behind ESC and KIND. */
static size_t plain_text_rest(char kind, const char *text, size_t length)
{
    if (kind == '[')
        return plain_text_parameters(text, length);
    return memchr("]P^_X", kind, 5) ? plain_text_string(text, length) : 0;
}

/* The sequence that TEXT starts with, whose first byte is ESC. Its C1 forms are for terminals that
 * nobody has: in UTF-8 they are text that was decoded wrongly. */
static size_t plain_text_sequence(const char *text, size_t length)
{
    size_t end = 1;

    if (length > 1 && memchr("[]P^_X", text[1], 6))
        return 2 + plain_text_rest(text[1], text + 2, length - 2);
    while (end < length && plain_text_is_between(text[end], 0x20, 0x2F))
        end++;
    return end < length && plain_text_is_between(text[end], 0x30, 0x7E) ? end + 1 : end;
}

/* Characters */

/* The length of the control character that TEXT starts with, and its number; 0: it is none. */
static size_t plain_text_control(const char *text, size_t length, unsigned *ret)
{
    const unsigned char *bytes = (const unsigned char *)text;

    *ret = bytes[0];
    if (iscntrl(bytes[0]))
        return 1;
    if (bytes[0] != C1_LEAD || length < 2 || !plain_text_is_between(text[1], 0x80, 0x9F))
        return 0;
    *ret = bytes[1];
    return 2;
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

static size_t plain_text_backspaces(const char *text, size_t length)
{
    size_t count = 1;

    while (count < length && text[count] == '\b')
        count++;
    return count;
}

/* Puts the character that TEXT starts with, or more; returns the length. */
static size_t plain_text_put(struct line_states *lines, const char *text, size_t length)
{
    unsigned number;
    size_t taken = plain_text_control(text, length, &number);
    char escaped[ESCAPED_BYTES + 1];

    if (taken == 0 || *text == '\t') {
        taken = plain_text_characters(text, length);
        line_states_put(lines, text, taken);
        return taken;
    }
    snprintf(escaped, sizeof escaped, "\\x%02x", number & 0xFF);
    line_states_put(lines, escaped, ESCAPED_BYTES);
    return taken;
}

/* How many lines the sequence at TEXT, whose first byte is ESC, goes up: ESC [ 2 A. */
static size_t plain_text_lines_up(const char *text, size_t length)
{
    size_t count = 0;
    size_t i = 2;

    if (length < 3 || text[1] != '[')
        return 0;
    for (; i < length && isdigit((unsigned char)text[i]) && count < SCREEN_LINES; i++)
        count = count * 10 + (size_t)(text[i] - '0');
    return i < length && memchr("AF", text[i], 2) ? (count > 0 ? count : 1) : 0;
}

/* How many lines the rest of the line at TEXT goes up. */
static size_t plain_text_all_lines_up(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length && text[i] != '\n'; i++)
        if (text[i] == ESCAPE)
            count += plain_text_lines_up(text + i, length - i);
    return count;
}

/* The newlines at TEXT that the line behind them takes back by going up, as the bars of nested
 * loops do; 0: it does not. */
static size_t plain_text_undone(const char *text, size_t length)
{
    size_t count = 0;

    while (count < length && count < SCREEN_LINES && text[count] == '\n')
        count++;
    return plain_text_all_lines_up(text + count, length - count) >= count ? count : 0;
}

/* Ends a line, or goes on with another state of it, as far as a reader sees. */
static size_t plain_text_newlines(struct line_states *lines, const char *text, size_t length)
{
    const size_t undone = plain_text_undone(text, length);

    if (undone > 0) {
        line_states_return(lines);
        return undone;
    }
    line_states_end(lines);
    return 1;
}

/* Takes what TEXT starts with; returns its length. */
static size_t plain_text_step(struct line_states *lines, const char *text, size_t length)
{
    size_t count;

    switch (*text) {
    case '\n':
        return plain_text_newlines(lines, text, length);
    case '\r':
        line_states_return(lines);
        return 1;
    case '\b':
        count = plain_text_backspaces(text, length);
        line_states_back(lines, count);
        return count;
    case ESCAPE:
        return plain_text_sequence(text, length);
    default:
        return plain_text_put(lines, text, length);
    }
}

/* The most bytes that TEXT has as plain text. */
static size_t plain_text_most(const char *text, size_t length)
{
    size_t most = length;

    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)text[i]) || (unsigned char)text[i] == C1_LEAD)
            most += ESCAPED_BYTES - 1;
    return most;
}

char *plain_text_clean(const char *text, size_t length, size_t *ret_length, size_t *ret_untold)
{
    struct line_states lines = {.bytes = memory_new(plain_text_most(text, length) + 1, 1)};

    for (size_t i = 0; i < length;)
        i += plain_text_step(&lines, text + i, length - i);
    line_states_finish(&lines);
    lines.bytes[lines.length] = '\0';
    *ret_length = lines.length;
    *ret_untold = lines.untold;
    return lines.bytes;
}

/* Repetitions */

/* The length of the line that TEXT starts with, without its newline. */
static size_t plain_text_line(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);

    return end ? (size_t)(end - text) : length;
}

/* The first lines of TEXT and what repeats them. */
struct plain_text_run {
    size_t lines; /* in the unit that is repeated */
    size_t unit;  /* bytes of it, without its last newline */
    size_t count; /* how often it comes again */
    size_t end;   /* behind the last of them */
};

/* With a unit of LINES lines. */
static struct plain_text_run plain_text_repetition(const char *text, size_t length, size_t lines)
{
    struct plain_text_run run = {.lines = lines};
    size_t end;

    for (size_t i = 0; i < lines && run.unit < length; i++)
        run.unit +=
            (i > 0) + plain_text_line(text + run.unit + (i > 0), length - run.unit - (i > 0));
    for (end = run.unit + 1;
         end < length && run.unit <= length - end && memcmp(text, text + end, run.unit) == 0 &&
         (end + run.unit == length || text[end + run.unit] == '\n');
         end += run.unit + 1)
        run.count++;
    run.end = size_min(end, length);
    return run;
}

/* True when a count is much shorter than the lines that RUN repeats. */
static bool plain_text_is_long(struct plain_text_run run)
{
    return run.count * (run.unit + 1) >= REPETITION_BYTES;
}

/* What is repeated at the start of TEXT: a line or, as in a line that was written over, two. */
static struct plain_text_run plain_text_find_run(const char *text, size_t length)
{
    const struct plain_text_run one = plain_text_repetition(text, length, 1);
    struct plain_text_run two;

    if (plain_text_is_long(one))
        return one;
    two = plain_text_repetition(text, length, 2);
    return plain_text_is_long(two) ? two : one;
}

char *plain_text_collapse(const char *text, size_t length, size_t *ret_length)
{
    struct plain_text plain = plain_text_new(length);

    for (size_t i = 0; i < length;) {
        const struct plain_text_run run = plain_text_find_run(text + i, length - i);

        if (!plain_text_is_long(run)) {
            plain_text_copy(&plain, text + i, run.end);
        } else {
            plain_text_copy(&plain, text + i, run.unit + 1);
            plain.length += (size_t)snprintf(
                plain.bytes + plain.length, REPETITION_BYTES, "... [%zu more lines like %s] ...\n",
                run.count * run.lines, run.lines > 1 ? "these" : "this");
        }
        i += run.end;
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
