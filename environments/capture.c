#include "environments/capture.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST_HEAD_BYTES = 4096,
    JSON_CHARACTER_BYTES = 6,      /* the most that one takes in JSON, \u0000 */
    JSON_SLACK_BYTES = 4096,       /* short text is never cut because of its length in JSON */
    GAP_BYTES = 64,                /* room for the line about the missing bytes */
    LAST_LINE_BYTES = 256,         /* of a line that is reported */
    LAST_LINE_WINDOW_BYTES = 8192, /* how far back the newest line is looked for */
    PIECE_BYTES = 64 * 1024,       /* of a piece, in the stream and in JSON */
};

void capture_init(struct capture *capture, size_t limit)
{
    *capture = (struct capture){.limit = limit};
}

void capture_deinit(struct capture *capture)
{
    free(capture->head);
    free(capture->tail);
    capture_init(capture, capture->limit);
}

static size_t tail_limit(const struct capture *capture)
{
    return capture->limit / 4;
}

static size_t head_limit(const struct capture *capture)
{
    return capture->limit - tail_limit(capture);
}

static void grow_head(struct capture *capture, size_t needed)
{
    size_t capacity = capture->head_capacity ? capture->head_capacity : SMALLEST_HEAD_BYTES;

    while (capacity < needed)
        capacity *= 2;
    capture->head_capacity = size_min(capacity, head_limit(capture));
    capture->head = memory_resize(capture->head, capture->head_capacity);
}

/* Returns how many of the bytes the head took. */
static size_t append_to_head(struct capture *capture, const char *data, size_t length)
{
    size_t taken = size_min(length, head_limit(capture) - capture->head_length);

    if (taken == 0)
        return 0;
    if (capture->head_length + taken > capture->head_capacity)
        grow_head(capture, capture->head_length + taken);
    memcpy(capture->head + capture->head_length, data, taken);
    capture->head_length += taken;
    return taken;
}

static void append_to_tail(struct capture *capture, const char *data, size_t length)
{
    size_t room = tail_limit(capture);
    size_t position;
    size_t first;

    if (length == 0 || room == 0)
        return;
    if (!capture->tail)
        capture->tail = memory_new(room, 1);
    if (length > room) {
        data += length - room;
        length = room;
    }
    position = (capture->tail_start + capture->tail_length) % room;
    first = size_min(length, room - position);
    memcpy(capture->tail + position, data, first);
    memcpy(capture->tail, data + first, length - first);
    capture->tail_length += length;
    if (capture->tail_length > room) {
        capture->tail_start = (capture->tail_start + capture->tail_length - room) % room;
        capture->tail_length = room;
    }
}

void capture_append(struct capture *capture, const char *data, size_t length)
{
    size_t taken = append_to_head(capture, data, length);

    append_to_tail(capture, data + taken, length - taken);
    capture->total += length;
}

/* Copies LENGTH bytes of the tail in order, from its byte SKIP on. */
static void copy_tail(const struct capture *capture, size_t skip, size_t length, char *target)
{
    size_t room = tail_limit(capture);
    size_t start;
    size_t first;

    if (length == 0)
        return;
    start = (capture->tail_start + skip) % room;
    first = size_min(length, room - start);
    memcpy(target, capture->tail + start, first);
    memcpy(target + first, capture->tail, length - first);
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* How many bytes at the start of TEXT are the rest of a character that was cut. */
static size_t cut_rest_length(const char *text, size_t length)
{
    size_t rest = 0;

    while (rest < 3 && rest < length && is_continuation(text[rest]))
        rest++;
    return rest;
}

/* The two kept pieces, in one block of memory, with a gap between them or none. */
struct pieces {
    const char *head;
    size_t head_length;
    const char *tail;
    size_t tail_length;
};

/* Drops the parts of characters that the gap has cut. */
static void trim_to_characters(struct pieces *pieces)
{
    size_t rest = cut_rest_length(pieces->tail, pieces->tail_length);

    pieces->head_length = utf8_boundary_before(pieces->head, pieces->head_length);
    pieces->tail += rest;
    pieces->tail_length -= rest;
}

/* Makes head and tail take no more than their shares of BUDGET bytes of JSON. */
static void trim_to_budget(struct pieces *pieces, size_t budget)
{
    size_t share = budget / 4;
    size_t cost = json_escaped_length(pieces->tail, pieces->tail_length);
    size_t skip = 0;

    pieces->head_length = json_escaped_prefix(pieces->head, pieces->head_length, budget - share);
    if (cost > share)
        skip = json_escaped_prefix(pieces->tail, pieces->tail_length,
                                   cost - share + JSON_CHARACTER_BYTES);
    pieces->tail += skip;
    pieces->tail_length -= skip;
}

static json_t *capture_join(const struct pieces *pieces, uint64_t missing)
{
    size_t head = pieces->head_length;
    AUTO_FREE char *text = memory_new(head + GAP_BYTES + pieces->tail_length, 1);
    bool at_line_start = head == 0 || pieces->head[head - 1] == '\n';
    size_t used = head;

    memcpy(text, pieces->head, head);
    used += (size_t)snprintf(text + used, GAP_BYTES, "%s... [%" PRIu64 " bytes left out] ...\n",
                             at_line_start ? "" : "\n", missing);
    memcpy(text + used, pieces->tail, pieces->tail_length);
    return json_string_repaired(text, used + pieces->tail_length);
}

json_t *capture_text(const struct capture *capture, bool *ret_truncated)
{
    size_t kept = capture->head_length + capture->tail_length;
    AUTO_FREE char *text = memory_new(kept + 1, 1);
    size_t budget = 2 * capture->limit + JSON_SLACK_BYTES;
    struct pieces pieces = {.head = text,
                            .head_length = capture->head_length,
                            .tail = text + capture->head_length,
                            .tail_length = capture->tail_length};
    bool too_costly;

    if (capture->head_length > 0)
        memcpy(text, capture->head, capture->head_length);
    copy_tail(capture, 0, capture->tail_length, text + capture->head_length);
    too_costly = json_escaped_length(text, kept) > budget;
    if (ret_truncated)
        *ret_truncated = too_costly || capture->total > kept;
    if (!too_costly && capture->total == kept)
        return json_string_repaired(text, kept);
    trim_to_characters(&pieces);
    if (too_costly)
        trim_to_budget(&pieces, budget);
    return capture_join(&pieces, capture->total - pieces.head_length - pieces.tail_length);
}

/* Pieces */

static bool capture_has_gap(const struct capture *capture)
{
    return capture->total > capture->head_length + capture->tail_length;
}

/* The bytes of the head that can be read: not the part of a character that the gap has cut. */
static size_t readable_head(const struct capture *capture)
{
    return capture_has_gap(capture) ? utf8_boundary_before(capture->head, capture->head_length)
                                    : capture->head_length;
}

/* Copies kept bytes from the position *AT of the stream on, as many as follow each other and SIZE
 * allows; returns how many. *AT becomes the position of the first. */
static size_t copy_from(const struct capture *capture, uint64_t *at, char *target, size_t size)
{
    size_t head = readable_head(capture);
    uint64_t tail_at = capture->total - capture->tail_length;
    size_t taken = 0;
    size_t skip;
    size_t rest;

    if (*at < head) {
        taken = size_min(size, head - (size_t)*at);
        memcpy(target, capture->head + *at, taken);
        if (taken == size || capture_has_gap(capture))
            return taken;
    } else if (*at < tail_at) {
        *at = tail_at;
    }
    skip = (size_t)(*at + taken - tail_at);
    rest = size_min(size - taken, capture->tail_length - skip);
    copy_tail(capture, skip, rest, target + taken);
    return taken + rest;
}

/* Of the LENGTH bytes of WINDOW, how many make a piece. IS_END: nothing comes behind them. */
static size_t piece_length(const char *window, size_t length, bool is_end)
{
    if (!is_end)
        length = utf8_boundary_before(window, length);
    return json_escaped_prefix(window, length, PIECE_BYTES);
}

static bool capture_read_piece(const struct capture *capture, struct capture_piece *piece,
                               bool is_last)
{
    char window[PIECE_BYTES];
    uint64_t after = piece->offset + piece->length;
    uint64_t at = after;
    size_t kept = copy_from(capture, &at, window, sizeof window);
    size_t skip = at > after ? cut_rest_length(window, kept) : 0;
    size_t length =
        piece_length(window + skip, kept - skip, is_last && at + kept == capture->total);

    if (length == 0)
        return false;
    *piece = (struct capture_piece){
        .offset = at + skip,
        .length = length,
        .text = json_string_repaired(window + skip, length),
    };
    return true;
}

bool capture_next_piece(const struct capture *capture, struct capture_piece *piece)
{
    return capture_read_piece(capture, piece, false);
}

bool capture_last_piece(const struct capture *capture, struct capture_piece *piece)
{
    return capture_read_piece(capture, piece, true);
}

/* The newest line */

/* The newest bytes, at most LAST_LINE_WINDOW_BYTES; returns how many. */
static size_t copy_window(const struct capture *capture, char *window)
{
    size_t tail = size_min(capture->tail_length, LAST_LINE_WINDOW_BYTES);
    size_t head = 0;

    /* Without a gap the head goes on where the tail starts. */
    if (capture->total <= capture->limit || capture->tail_length == 0)
        head = size_min(capture->head_length, LAST_LINE_WINDOW_BYTES - tail);
    if (head > 0)
        memcpy(window, capture->head + capture->head_length - head, head);
    copy_tail(capture, capture->tail_length - tail, tail, window + head);
    return head + tail;
}

/* Length of the ANSI control sequence or control character at the start of TEXT, 0 for none. */
static size_t control_length(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t end = 2;

    if (bytes[0] != 0x1B || length < 2 || bytes[1] != '[')
        return bytes[0] < ' ' || bytes[0] == 0x7F;
    while (end < length && bytes[end] >= 0x20 && bytes[end] < 0x40)
        end++;
    return size_min(end + 1, length);
}

/* True for U+0080 to U+009F, of text that was decoded wrongly: an apostrophe, as a rule. */
static bool is_late_control(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;

    return length >= 2 && bytes[0] == 0xC2 && bytes[1] < 0xA0;
}

/* Removes control characters in place, or shows that there is one; returns the new length without
 * blanks at either end. */
static size_t clean_line(char *line, size_t length)
{
    size_t used = 0;
    size_t i = 0;

    while (i < length) {
        char byte = line[i] == '\t' ? ' ' : line[i];
        size_t control = byte == ' ' ? 0 : control_length(line + i, length - i);

        if (is_late_control(line + i, length - i)) {
            line[used++] = '?';
            control = 2;
        } else if (control == 0 && (used > 0 || byte != ' ')) {
            line[used++] = byte;
        }
        i += control > 0 ? control : 1;
    }
    while (used > 0 && line[used - 1] == ' ')
        used--;
    return used;
}

static bool is_line_end(char byte)
{
    return byte == '\n' || byte == '\r'; /* a progress bar returns to the start of its line */
}

/* Repairs LINE and cuts it to LIMIT bytes. Owned by the caller; NULL when nothing fits. */
static char *finish_line(const char *line, size_t length, size_t limit)
{
    char *text = utf8_repair(line, length, &length);

    if (length > limit)
        length = utf8_boundary_before(text, limit);
    text[length] = '\0';
    if (length > 0)
        return text;
    free(text);
    return NULL;
}

char *capture_last_line(const struct capture *capture, size_t limit)
{
    char window[LAST_LINE_WINDOW_BYTES] = "";
    size_t length = copy_window(capture, window);
    size_t end = utf8_boundary_before(window, length); /* the rest may still come */
    size_t begin = cut_rest_length(window, end);

    while (end > begin) {
        size_t start = end;
        size_t cleaned;

        while (start > begin && !is_line_end(window[start - 1]))
            start--;
        cleaned = clean_line(window + start, end - start);
        if (cleaned > 0)
            return finish_line(window + start, cleaned, limit);
        end = start > begin ? start - 1 : begin;
    }
    return NULL;
}

char *capture_newest_line(const struct capture *newest, const struct capture *other)
{
    char *line = capture_last_line(newest, LAST_LINE_BYTES);

    return line ? line : capture_last_line(other, LAST_LINE_BYTES);
}
