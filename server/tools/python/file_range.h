/* A piece of a file, as a client asks for it. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FILE_RANGE_BYTES = 1024 * 1024, /* most that is read at once */
    FILE_RANGE_TEXT = 64 * 1024,    /* the same of text, unless a length is given */
};

struct file_range {
    uint64_t offset;
    uint64_t length; /* bytes; 0: as many as there are, up to the limits above */

    /* After file_range_read. */
    uint64_t size; /* of the file */
    bool is_text;
    char *bytes; /* owned; LENGTH of them */
};

/* Takes `offset` and `length` from VALUES, which are strings of a URI. */
int file_range_parse(struct file_range *range, const json_t *values, struct error *err);

/* Reads the piece of the regular file FD. Text is not cut inside a character and, if no length was
 * given, not inside a line where that can be helped. */
int file_range_read(struct file_range *range, int fd, struct error *err);

/* True if the file goes on behind the piece. */
bool file_range_has_more(const struct file_range *range);

void file_range_deinit(struct file_range *range);
