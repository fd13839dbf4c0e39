/* One picture that pyexecd-picture decodes. */
#pragma once

#include "base/error.h"
#include "environments/pictures/picture_answer.h"

#include <stdbool.h>
#include <stddef.h>

struct picture_reading;
struct process_host;

struct picture_reading_settings {
    struct process_host *host; /* borrowed */
    const char *helper;        /* the path of pyexecd-picture */
    int file;                  /* borrowed until picture_reading_start returns */
    void *data;                /* borrowed: the caller's own */

    /* The end, once, never from inside picture_reading_start: ANSWER and its BYTES, borrowed; NULL
     * when the helper could not run. A picture that it fails on is PICTURE_UNREADABLE. The reading
     * is gone when this returns. */
    void (*done)(void *data, const struct picture_answer *answer, const char *bytes);
};

/* NULL with ERR when the helper cannot be started. */
struct picture_reading *picture_reading_start(const struct picture_reading_settings *settings,
                                              struct error *err);

/* Kills the helper; `done` does not come. */
void picture_reading_cancel(struct picture_reading *reading);

/* Reads the LENGTH bytes of DATA that the helper has written. False when the bytes are no answer.
 */
bool picture_answer_read(struct picture_answer *ret, const char *data, size_t length);

/* "image/png". Static storage. */
const char *picture_format_mime_type(enum picture_format format);
