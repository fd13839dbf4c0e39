/* Shows the output of a kernel: text on the streams, pictures and pages as files of the directory
 * in which the session began. */
#pragma once

#include <jansson.h>

struct jupyter_display {
    int directory;   /* borrowed: where files go */
    unsigned number; /* of the last file */
    unsigned files;  /* that the cell has made */
};

/* A cell begins. */
void jupyter_display_begin(struct jupyter_display *display);

/* Shows DATA, an object of forms by MIME type; anything else shows nothing. */
void jupyter_display_show(struct jupyter_display *display, const json_t *data);

/* Writes TEXT, if it is a string, to the stream FD (1 or 2). */
void jupyter_display_print(int fd, const json_t *text);

/* Writes a line to FD. */
void jupyter_display_say(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
