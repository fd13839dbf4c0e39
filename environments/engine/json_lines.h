/* JSON objects that come one after another, a line each, as pulls and builds report. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

enum { JSON_LINE_BYTES = 1024 * 1024 };

struct json_lines {
    /* Input. May not end the owner of LINES. */
    void (*line)(struct json_lines *lines, const json_t *value);

    /* Private. */
    struct buffer incoming;
};

/* The input is set already. */
void json_lines_init(struct json_lines *lines);
void json_lines_deinit(struct json_lines *lines);

/* Hands over each object that is complete. -1 with ERR for a line that is not an object, or too
 * long. */
int json_lines_feed(struct json_lines *lines, const char *data, size_t length, struct error *err);

/* The stream has ended: the bytes left over are a line, too. */
int json_lines_end(struct json_lines *lines, struct error *err);
