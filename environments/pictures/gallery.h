/* The pictures among the files that a run has left, in the form for models.
 *
 * The server opens each, and a process of its own decodes it (picture_reading.h), one after the
 * other, within a time limit for all. */
#pragma once

#include "base/outcome.h"

#include <ev.h>
#include <jansson.h>
#include <stddef.h>

struct picture_reading;
struct process_host;

enum {
    GALLERY_PICTURES = 4,    /* the most that are shown of a run */
    GALLERY_BYTES = 3 << 19, /* the most bytes of all together: 2 MiB as base64 */
};

/* Embedded in the run. */
struct gallery {
    /* Inputs. Borrowed. */
    struct ev_loop *loop;
    struct process_host *host;
    const char *helper; /* the path of pyexecd-picture; NULL: no pictures are wanted */
    void (*done)(struct gallery *gallery); /* the end of a PENDING start */

    /* Output: an array with an object for each file with the name of a picture, in their order:
     *     {path, width, height, mimeType, data, fileWidth, fileHeight}   one that is shown
     *     {path, reason}                                                 one that is not; and why
     * Owned; or NULL: there is none. */
    json_t *pictures;

    /* Private. */
    json_t *files;                   /* a reference */
    size_t next;                     /* of the files */
    int directory;                   /* borrowed */
    struct picture_reading *reading; /* borrowed; NULL: none is under way */
    size_t shown;
    size_t shown_bytes;
    ev_timer deadline;
};

/* Can be started again after its end, when its pictures were taken: `pictures` is NULL then.
 * Reads the pictures among FILES, an array of {path, mimeType} below the descriptor DIRECTORY
 * (borrowed until the end). READY or PENDING. */
enum outcome gallery_start(struct gallery *gallery, int directory, json_t *files);

/* Stops the reading, if one is under way; `done` does not come. */
void gallery_cancel(struct gallery *gallery);

/* Releases the pictures, too. Harmless for a gallery that was never started. */
void gallery_deinit(struct gallery *gallery);
