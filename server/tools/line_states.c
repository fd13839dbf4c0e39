#include "server/tools/line_states.h"

#include "base/ascii.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN_BYTES = 256, /* states that are alike and take less are shown */
    NOTE_BYTES = 80,
    BAR_LENGTH = 3,  /* as many equal signs are the bar of a progress bar */
    BLOCK_BYTES = 3, /* of a character of bars, in UTF-8 */
    CHARACTER_BYTES = 4,
    ESCAPED_BYTES = 4, /* of a control character that is shown: \x07 */
};

#define BAR_SIGNS "#=*-.>|_+~"

/* A state, or a part of one. */
struct state_text {
    const char *bytes;
    size_t length;
};

/* The meaning of a state */

/* True for a character of which bars are drawn: U+2500 to U+25FF, and Braille, U+2800 to U+28FF. */
static bool state_is_block(struct state_text text)
{
    const unsigned char *bytes = (const unsigned char *)text.bytes;

    return text.length >= BLOCK_BYTES && bytes[0] == 0xE2 &&
           ((bytes[1] >= 0x94 && bytes[1] <= 0x97) || (bytes[1] >= 0xA0 && bytes[1] <= 0xA3));
}

/* How many equal signs of a bar TEXT begins with. */
static size_t state_bar(struct state_text text)
{
    size_t length = 1;

    if (!memchr(BAR_SIGNS, text.bytes[0], strlen(BAR_SIGNS)))
        return 0;
    while (length < text.length && text.bytes[length] == text.bytes[0])
        length++;
    return length;
}

/* The bar of tqdm begins with "10%|". At first it has blanks alone. */
static bool state_has_bar(struct state_text text)
{
    if (memmem(text.bytes, text.length, "%|", 2))
        return true;
    while (text.length > 0) {
        const size_t bar = state_bar(text);
        const size_t step = bar > 0 ? bar : 1;

        if (bar >= BAR_LENGTH || state_is_block(text))
            return true;
        text = (struct state_text){text.bytes + step, text.length - step};
    }
    return false;
}

static size_t state_skip_blanks(struct state_text text, size_t at)
{
    while (at < text.length && ascii_is_blank(text.bytes[at]))
        at++;
    return at;
}

/* True when one more slash is before the number that ends before AT. */
static bool state_follows_slash(struct state_text text, size_t at)
{
    while (at > 0 && ascii_is_digit(text.bytes[at - 1]))
        at--;
    return at > 0 && text.bytes[at - 1] == '/';
}

static size_t state_skip_digits(struct state_text text, size_t at)
{
    while (at < text.length && ascii_is_digit(text.bytes[at]))
        at++;
    return at;
}

/* True when the number that ends before AT is a part of something: 40%, 40 %, 4/10. A date,
 * 1/2/2024, is none. */
static bool state_is_share(struct state_text text, size_t at)
{
    const size_t slash = state_skip_blanks(text, at);
    size_t end;

    if (slash < text.length && text.bytes[slash] == '%')
        return true;
    if (slash >= text.length || text.bytes[slash] != '/' || state_follows_slash(text, at))
        return false;
    at = state_skip_blanks(text, slash + 1);
    end = state_skip_digits(text, at);
    return end > at && (end == text.length || text.bytes[end] != '/');
}

static bool state_has_share(struct state_text text)
{
    for (size_t at = 1; at < text.length; at++)
        if (ascii_is_digit(text.bytes[at - 1]) && !ascii_is_digit(text.bytes[at]) &&
            state_is_share(text, at))
            return true;
    return false;
}

static bool state_shows_progress(struct state_text text)
{
    return state_has_bar(text) || state_has_share(text);
}

static bool state_is_blank(struct state_text text)
{
    return state_skip_blanks(text, 0) == text.length;
}

/* Two states */

/* How many bytes at AT are no letter, and no digit either if DIGITS count. */
static size_t state_pass(struct state_text text, size_t at, bool digits)
{
    while (at < text.length) {
        const char byte = text.bytes[at];
        const struct state_text rest = {text.bytes + at, text.length - at};

        if (state_is_block(rest))
            at += BLOCK_BYTES;
        else if ((byte & 0x80) || isalpha((unsigned char)byte) || (digits && ascii_is_digit(byte)))
            break;
        else
            at++;
    }
    return at;
}

/* True when the letters of both are the same, and the digits too if DIGITS count. */
static bool state_says_the_same(struct state_text one, struct state_text other, bool digits)
{
    size_t i = state_pass(one, 0, digits);
    size_t j = state_pass(other, 0, digits);

    while (i < one.length && j < other.length && one.bytes[i] == other.bytes[j]) {
        i = state_pass(one, i + 1, digits);
        j = state_pass(other, j + 1, digits);
    }
    return i == one.length && j == other.length;
}

static bool state_is_alike(struct state_text one, struct state_text other)
{
    return state_says_the_same(one, other, false) || (state_has_bar(one) && state_has_bar(other));
}

/* True when OTHER says something that ONE, which is alike, does not, and shows no progress. */
static bool state_is_telling(struct state_text one, struct state_text other)
{
    return !state_says_the_same(one, other, true) && !state_shows_progress(other);
}

/* Lines */

static struct state_text line_states_current(const struct line_states *lines)
{
    return (struct state_text){lines->bytes + lines->state, lines->length - lines->state};
}

/* The newest state of the group: the line before the current one. */
static struct state_text line_states_newest(const struct line_states *lines)
{
    const struct state_group *group = &lines->group;

    return (struct state_text){lines->bytes + group->newest, lines->state - 1 - group->newest};
}

/* Moves the current state to PLACE, which is before it. */
static void line_states_move(struct line_states *lines, size_t place)
{
    const struct state_text current = line_states_current(lines);

    memmove(lines->bytes + place, current.bytes, current.length);
    lines->state = place;
    lines->length = place + current.length;
}

/* Begins a group with the current state. */
static void line_states_begin_group(struct line_states *lines)
{
    lines->group = (struct state_group){.start = lines->state, .newest = lines->state};
    lines->has_earlier = true;
}

/* How many states lie between the start of the group and the current one. */
static size_t line_states_count(const struct line_states *lines)
{
    size_t count = 0;

    for (size_t i = lines->group.start; i < lines->state; i++)
        count += lines->bytes[i] == '\n';
    return count;
}

/* Adds the current state, which is like the newest, to the group. */
static void line_states_join(struct line_states *lines)
{
    struct state_group *group = &lines->group;

    group->is_telling |= state_is_telling(line_states_newest(lines), line_states_current(lines));
    group->bytes += lines->state - group->newest;
    group->newest = lines->state;
    if (group->bytes < SHOWN_BYTES)
        return;
    group->left_out += line_states_count(lines);
    line_states_move(lines, group->start);
    group->newest = group->start;
}

/* Puts a line before the newest state, which ends the text, if others are left out. These had more
 * bytes than the line has. */
static void line_states_end_group(struct line_states *lines)
{
    const struct state_group *group = &lines->group;
    const size_t length = lines->length - group->newest;
    char note[NOTE_BYTES];
    size_t bytes;

    if (!lines->has_earlier || group->left_out == 0)
        return;
    bytes = (size_t)snprintf(
        note, sizeof note, "... [%zu earlier states of this line left out] ...\n", group->left_out);
    memmove(lines->bytes + group->newest + bytes, lines->bytes + group->newest, length);
    memcpy(lines->bytes + group->newest, note, bytes);
    lines->length += bytes;
    lines->state += bytes;
    lines->untold += group->is_telling ? group->left_out : 0;
}

/* Removes the current state, if it only clears the line or repeats the newest: that is the current
 * one again. */
static bool line_states_drop(struct line_states *lines)
{
    const struct state_text newest = line_states_newest(lines);
    struct state_text current = line_states_current(lines);

    while (current.length > 0 && current.bytes[current.length - 1] == ' ')
        current.length--;
    lines->length = lines->state + current.length;
    if (current.length > 0 && (current.length != newest.length ||
                               memcmp(current.bytes, newest.bytes, newest.length) != 0))
        return false;
    lines->length = lines->state - 1;
    lines->state = lines->group.newest;
    return true;
}

/* The current state is complete. */
static void line_states_settle(struct line_states *lines)
{
    if (lines->has_earlier && line_states_drop(lines))
        return;
    if (lines->has_earlier &&
        state_is_alike(line_states_newest(lines), line_states_current(lines))) {
        line_states_join(lines);
        return;
    }
    line_states_end_group(lines);
    line_states_begin_group(lines);
}

static void line_states_begin(struct line_states *lines)
{
    lines->is_returned = false;
    if (!lines->has_earlier && state_is_blank(line_states_current(lines))) {
        lines->length = lines->state;
        return;
    }
    line_states_settle(lines);
    lines->bytes[lines->length++] = '\n';
    lines->state = lines->length;
}

void line_states_put(struct line_states *lines, const char *text, size_t length)
{
    if (lines->is_returned)
        line_states_begin(lines);
    memcpy(lines->bytes + lines->length, text, length);
    lines->length += length;
}

void line_states_return(struct line_states *lines)
{
    lines->is_returned = true;
}

static bool state_is_start(char byte)
{
    return (byte & 0xC0) != 0x80;
}

/* True when the current state has at most COUNT characters. */
static bool line_states_is_covered(const struct line_states *lines, size_t count)
{
    const struct state_text current = line_states_current(lines);
    size_t characters = 0;

    if (current.length / CHARACTER_BYTES > count)
        return false;
    for (size_t i = 0; i < current.length; i++)
        characters += state_is_start(current.bytes[i]);
    return characters <= count;
}

/* True when the current state ends with a control character as it is shown: \x07. */
static bool line_states_end_escaped(const struct line_states *lines)
{
    const struct state_text current = line_states_current(lines);
    const char *end = current.bytes + current.length;

    return current.length >= ESCAPED_BYTES && end[-4] == '\\' && end[-3] == 'x' &&
           (memchr("0189", end[-2], 4) || memcmp(end - 2, "7f", 2) == 0) &&
           isxdigit((unsigned char)end[-1]);
}

static void line_states_erase(struct line_states *lines)
{
    bool is_part = true;

    if (line_states_end_escaped(lines)) {
        lines->length -= ESCAPED_BYTES;
        return;
    }
    while (is_part && lines->length > lines->state)
        is_part = !state_is_start(lines->bytes[--lines->length]);
}

void line_states_back(struct line_states *lines, size_t count)
{
    if (lines->is_returned)
        return;
    if (count > 1 && line_states_is_covered(lines, count)) {
        line_states_return(lines);
        return;
    }
    for (; count > 0 && lines->length > lines->state; count--)
        line_states_erase(lines);
}

void line_states_finish(struct line_states *lines)
{
    line_states_settle(lines);
    line_states_end_group(lines);
    lines->has_earlier = false;
    lines->is_returned = false;
}

void line_states_end(struct line_states *lines)
{
    line_states_finish(lines);
    lines->bytes[lines->length++] = '\n';
    lines->state = lines->length;
}
