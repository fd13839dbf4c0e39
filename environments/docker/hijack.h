/* A request whose connection is taken over: what the program behind it prints comes as frames until
 * it ends. Private to this layer; others see containers and execs.
 *
 * libcurl makes the connection, whatever its kind, and leaves it to us (CURLOPT_CONNECT_ONLY): it
 * has no defined behaviour for an answer 101, and Podman gives no other. */
#pragma once

#include "base/buffer.h"
#include "environments/docker/engine_request.h"
#include "environments/docker/frames.h"
#include "environments/docker/transfer.h"

#include <ev.h>

struct hijack {
    /* Inputs, set before hijack_start. Each may cancel the hijack but `output`, which may not end
     * what the hijack belongs to. */

    /* The engine has agreed: what is printed from now on is not lost. */
    void (*ready)(struct hijack *hijack);
    void (*output)(struct hijack *hijack, enum frame_stream stream, const char *data,
                   size_t length);

    /* Last. ERR NULL: the engine ended the stream behind a whole frame. Else what it says instead
     * (STATUS is that of HTTP, 0 where there is none) or what became of the connection. */
    void (*ended)(struct hijack *hijack, int status, const struct error *err);

    /* Private. */
    struct engine *engine; /* borrowed; NULL: not under way */
    struct transfer transfer;
    struct buffer outgoing; /* the request, what is left of it */
    struct buffer incoming; /* the head of the answer, and what an error says */
    struct frames frames;
    bool streaming; /* the head has come, and it was an agreement */
    ev_io watcher;
    ev_timer more; /* there was more than is read in one go */
};

/* Begins; `ready` or `ended` will come, never from inside this call. The engine must have answered
 * a request before. QUESTION's timeout and limit are not used: the owner has a timer. */
void hijack_start(struct hijack *hijack, struct engine *engine,
                  const struct engine_question *question);

/* Closes the connection; nothing is called any more. Harmless when it is not under way. What runs
 * behind it is not ended by that. */
void hijack_cancel(struct hijack *hijack);
