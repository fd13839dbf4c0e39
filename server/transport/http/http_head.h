/* The head of an HTTP/1 request: request line and fields. A pure function over the whole of it, and
 * strict, since a proxy in front of us may read a sloppy head differently. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    HTTP_HEAD_BYTES = 16 * 1024, /* longest, with the blank line */
    HTTP_HEAD_FIELDS = 64,
};

struct http_field {
    const char *name;
    const char *value; /* trimmed; no control characters but tabs */
};

/* All strings are borrowed from the text that was parsed. */
struct http_head {
    const char *method;
    const char *path;  /* of the target, as it was sent */
    const char *query; /* behind the question mark; NULL: there is none */
    unsigned minor;    /* 0 or 1: HTTP/1.minor */
    struct http_field fields[HTTP_HEAD_FIELDS];
    unsigned field_count;

    /* The meaning of the fields for the body and the connection. */
    uint64_t content_length;
    bool is_chunked;       /* then the length is not known */
    bool keep_alive;       /* another request may follow */
    bool expects_continue; /* the client waits for leave to send the body */

    const char *problem; /* the fault of the head, if it was refused */
};

/* The head of no request: empty strings, nothing follows. */
void http_head_clear(struct http_head *head);

/* How many of the LENGTH bytes of TEXT are a head with its blank line, to be called again with more
 * while that is 0: *SCANNED, 0 at first, counts the bytes that were looked at. -1 when it will
 * never be one: a line break that is none, a zero byte, or a first byte that no request begins
 * with. */
ssize_t http_head_find_end(const char *text, size_t length, size_t *scanned);

/* Reads a whole head, LENGTH bytes of TEXT, which is changed in place: strings end in NUL. 0, or
 * the status to refuse it with, and RET has the parts that were understood until then. */
unsigned http_head_parse(char *text, size_t length, struct http_head *ret);

/* RFC 9110, 5.6.2: the characters of names. */
bool http_is_token(char character);

/* The value of the field NAME, in any case; the first, if there are several; NULL: none.
 * RET_COUNT: how many there are; may be NULL. */
const char *http_head_find(const struct http_head *head, const char *name, unsigned *ret_count);

/* Reads lines of fields, each with its line break, LENGTH bytes of TEXT, which is changed in place,
 * into HEAD. 0, or the status to refuse it with. */
unsigned http_head_parse_fields(char *text, size_t length, struct http_head *head);
