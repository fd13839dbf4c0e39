/* JSON with comments and trailing commas, as the settings of many clients are: the offsets of its
 * parts. */
#pragma once

#include "server/clients/settings_entry.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct jsonc_text {
    const char *text; /* borrowed; NUL-terminated */
    char *bare;       /* owned: as long as the text, with spaces in place of everything but JSON */
    json_t *root;     /* owned: the object that it is; NULL where there is only white space */
    size_t open;      /* the offset of its bracket, or of the end of the text */
};

#define JSONC_TEXT_INIT                                                                            \
    {                                                                                              \
        0                                                                                          \
    }

/* A member or an element of a container, as offsets in the text. */
struct jsonc_item {
    size_t start; /* of its name, or of the value where it has none */
    size_t value;
    size_t end;   /* behind the value */
    size_t comma; /* that follows, or 0 */
};

/* Reads TEXT, which is borrowed until jsonc_text_deinit. -1 with ERR: it is no object of JSON. */
int jsonc_text_init(struct jsonc_text *jsonc, const char *text, struct error *err);
void jsonc_text_deinit(struct jsonc_text *jsonc);

/* The first item of the container whose bracket is at OPEN, or the item behind ITEM. False when
 * there is none. */
bool jsonc_first(const struct jsonc_text *jsonc, size_t open, struct jsonc_item *ret_item);
bool jsonc_next(const struct jsonc_text *jsonc, struct jsonc_item *item);

/* The member NAME of the object at OPEN; of several members, the last, which counts. */
bool jsonc_find_member(const struct jsonc_text *jsonc, size_t open, const char *name,
                       struct jsonc_item *ret_item);

/* The first element of the array at OPEN that is VALUE. */
bool jsonc_find_element(const struct jsonc_text *jsonc, size_t open, const json_t *value,
                        struct jsonc_item *ret_item);

/* The last item of the container at OPEN. False in an empty container. */
bool jsonc_last(const struct jsonc_text *jsonc, size_t open, struct jsonc_item *ret_item);

/* The offset behind the last byte before OFFSET that is neither white space nor part of a comment;
 * OFFSET is the start of an item or of a closing bracket. */
size_t jsonc_before(const struct jsonc_text *jsonc, size_t offset);

/* True when the last comment that begins between START and END lasts to the end of its line. */
bool jsonc_is_line_comment(const struct jsonc_text *jsonc, size_t start, size_t end);

/* The bracket that closes the container at OPEN. */
size_t jsonc_close(const struct jsonc_text *jsonc, size_t open);

/* The value of JSON text, with any number. New reference, or NULL. */
json_t *jsonc_read_value(const char *text, size_t length);
