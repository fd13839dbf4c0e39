/* One request to an engine and its answer. */
#pragma once

#include "base/error.h"
#include "environments/engine/engine.h"

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

struct engine_exchange;

/* Everything is borrowed until engine_request_start returns. */
struct engine_question {
    const char *method; /* "GET" */
    const char *path;   /* behind the version: "/containers/NAME/json?size=1" */
    const json_t *body; /* or NULL */
    double timeout;     /* seconds for all of it; 0: as long as it takes */
    size_t limit;       /* bytes of the largest answer; 0: ENGINE_ANSWER_BYTES */
};

enum { ENGINE_ANSWER_BYTES = 8 * 1024 * 1024 };

/* Valid until `done` returns. */
struct engine_answer {
    int status;        /* of HTTP; 0: no answer came, or not all of it */
    const char *bytes; /* NUL-terminated; empty if `data` got the body */
    size_t length;
    const json_t *json; /* NULL: not JSON */
};

struct engine_request {
    /* Inputs, set before engine_request_start. */

    /* The end. ERR is NULL on success (2xx, or 304: already so); else it is the engine's message,
     * or why no answer came. */
    void (*done)(struct engine_request *request, const struct engine_answer *answer,
                 const struct error *err);

    /* May be NULL. The body of a success as it comes, instead of being collected. */
    void (*data)(struct engine_request *request, const char *data, size_t length);

    /* May be NULL. Gives the body, a tar archive, piece by piece: bytes put into ROOM, 0 at its
     * end, -1 with ERR when it cannot go on, which is the request's end. May not call anything of
     * this layer but archive_read. */
    ssize_t (*send)(struct engine_request *request, char *room, size_t size, struct error *err);

    /* Private. */
    struct engine_exchange *exchange; /* owned; NULL: not under way */
};

/* `done` will come, never from inside this call. Several requests can be under way at once. */
void engine_request_start(struct engine_request *request, struct engine *engine,
                          const struct engine_question *question);

/* Ends the callbacks; the engine may still finish the request. Harmless if no request is under way.
 */
void engine_request_cancel(struct engine_request *request);

/* TEXT for a path or a query: all but letters, digits and -._~/:@, are percent-encoded. Owned by
 * the caller. */
char *engine_escape(const char *text);
