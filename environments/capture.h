/* The kept part of an output stream: head and tail up to a limit. Bytes beyond it are only counted.
 * The text is made valid UTF-8 at the end. A traceback is usually in the tail, a result in the
 * head. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture {
    char *head; /* owned; grows up to three quarters of the limit */
    size_t head_length;
    size_t head_capacity;
    char *tail; /* owned; a ring for the rest of the limit, made when the head is full */
    size_t tail_start;
    size_t tail_length;
    size_t limit;
    uint64_t total; /* bytes written in all */
};

void capture_init(struct capture *capture, size_t limit);
void capture_deinit(struct capture *capture);
void capture_append(struct capture *capture, const char *data, size_t length);

/* The text: head, then where something is missing one line that says how much, then tail.
 * Characters stay whole. A text that takes more than twice the limit in a JSON string (a script can
 * print control characters alone) is cut to twice the limit, so that an answer is never many times
 * larger than the limit. *RET_TRUNCATED (may be NULL): something is missing. New reference. */
json_t *capture_text(const struct capture *capture, bool *ret_truncated);

/* A piece of the stream, for a reader that follows it. Begins as {0}. */
struct capture_piece {
    uint64_t offset; /* of its first byte in the stream */
    size_t length;   /* in bytes of the stream */
    json_t *text;    /* a new reference, for the caller */
};

/* Makes PIECE the next one: whole characters, at most 64 KiB in a JSON string. Bytes between its
 * end before and its offset are not kept. False: nothing new is there, and PIECE stays as it is. */
bool capture_next_piece(const struct capture *capture, struct capture_piece *piece);

/* The same when nothing more is written: the text may end in a part of a character, repaired. */
bool capture_last_piece(const struct capture *capture, struct capture_piece *piece);

/* The newest line that is not blank, at most LIMIT bytes, control characters removed; NULL when
 * there is none. Owned by the caller. */
char *capture_last_line(const struct capture *capture, size_t limit);

/* The same of NEWEST or, if it has no such line, of OTHER, short enough to be reported. Owned by
 * the caller, or NULL. */
char *capture_newest_line(const struct capture *newest, const struct capture *other);
