/* The lines of a file or a stream, as they come, without waiting for them. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum { INPUT_LINE_BYTES = 1024 * 1024 };

struct input_lines {
    struct ev_loop *loop; /* borrowed */
    const char *name;     /* borrowed: for messages */
    int fd;               /* owned, unless it is standard input; -1: closed */
    ev_io watcher;        /* active while a line is waited for */
    struct buffer buffer;
    size_t taken;       /* bytes of the newest line, which the next call drops */
    size_t number;      /* of the newest line, from 1 */
    bool is_too_long;   /* the newest line is: its text is not whole */
    bool is_shortened;  /* the line that is waited for: its beginning is gone */
    bool is_ended;      /* nothing more can be read */
    struct error error; /* why it ended too early */
    void (*came)(
        struct input_lines *lines); /* the wait is over: there is a line, or none is left */
};

/* Opens the file PATH, or standard input if PATH is "-". LINES and PATH outlive the reading. */
int input_lines_open(struct input_lines *lines, const char *path, struct error *err);
void input_lines_close(struct input_lines *lines);

/* The next line, without its end and a byte order mark: borrowed until the next call. False: there
 * is none yet, and `came` is called once, unless input_lines_are_over(). */
bool input_lines_next(struct input_lines *lines, const char **ret_text, size_t *ret_length);

/* Whether no line is left. */
bool input_lines_are_over(const struct input_lines *lines);
