/* A request whose connection is taken over: then the output of a program comes over it, as frames,
 * until the program ends. Private to this layer, below containers and execs.
 *
 * libcurl makes the connection, whatever its kind, and leaves it to us (CURLOPT_CONNECT_ONLY): it
 * has no defined behaviour for an answer 101, and Podman gives no other. */
#pragma once

#include "base/buffer.h"
#include "base/curl/transfer.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/frames.h"
#include "environments/engine/response_head.h"

#include <ev.h>
#include <stdbool.h>

struct hijack {
    /* Inputs, set before hijack_start. None but `ended` may free or cancel the hijack. */

    /* The engine has agreed: output from now on is not lost. */
    void (*ready)(struct hijack *hijack);
    void (*output)(struct hijack *hijack, enum frame_stream stream, const char *data,
                   size_t length);

    /* Called last. ERR is NULL when the engine ended the stream behind a whole frame. Else it is
     * the engine's refusal (STATUS is its HTTP status) or a failure of the connection (STATUS is
     * 0). */
    void (*ended)(struct hijack *hijack, int status, const struct error *err);

    /* Private. */
    struct engine *engine; /* borrowed */
    struct transfer transfer;
    struct buffer outgoing; /* bytes of the request, or of data, that are not sent yet */
    struct buffer incoming; /* the answer, until the engine agrees */
    struct response_head head;
    struct frames frames;
    enum hijack_state {
        HIJACK_CLOSED,     /* not under way */
        HIJACK_CONNECTING, /* waiting for a connection */
        HIJACK_WAITING,    /* for the head of the answer */
        HIJACK_REFUSED,    /* waiting for the engine's message */
        HIJACK_STREAMING,  /* taken over */
    } state;
    ev_io watcher;
    ev_timer more;  /* there may be more than was read in one go */
    ev_timer bound; /* limits a refusal that does not end */
};

/* Begins; `ready` or `ended` will come, never from inside this call. The engine must have answered
 * a request before. QUESTION's timeout and limit are not used: the owner has a timer. */
void hijack_start(struct hijack *hijack, struct engine *engine,
                  const struct engine_question *question);

/* Sends DATA to the program behind a HIJACK that has been agreed to. -1 with ERR: more than a few
 * megabytes have not been taken from here yet. */
int hijack_send(struct hijack *hijack, const char *data, size_t length, struct error *err);

/* Closes the connection and ends the callbacks; the program goes on. Harmless when the hijack is
 * not under way. */
void hijack_cancel(struct hijack *hijack);

/* Under way: `ended` will come. */
bool hijack_is_open(const struct hijack *hijack);
