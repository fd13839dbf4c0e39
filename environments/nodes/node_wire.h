/* One end of the wire between a server and a node: frames in and out, and its heartbeat.
 *
 * Each end pings every 5 seconds. An end that hears nothing for 15 seconds gives
 * the other one up. It counts its own beats, so that a process which was stopped itself reads first
 * what has come meanwhile. */
#pragma once

#include "base/buffer.h"
#include "base/wire_reader.h"
#include "environments/nodes/node_protocol.h"

#include <ev.h>
#include <jansson.h>

struct node_wire {
    /* Inputs. Only `ended` may close the wire. DATA has a NUL behind it, and is borrowed. */
    struct ev_loop *loop;
    bool ends_lines; /* its words end with a newline: srun passes on whole lines */
    void (*frame)(struct node_wire *wire, enum node_frame type, uint32_t channel, const char *data,
                  size_t length);
    void (*foreign)(struct node_wire *wire, const char *data,
                    size_t length); /* instead of a hello; or NULL */
    void (*ended)(struct node_wire *wire,
                  const char *why); /* once, from the loop; "" when the other end has ended it */

    /* Private. */
    int in;  /* owned; -1: closed */
    int out; /* the same */
    struct wire_reader reader;
    struct buffer unsent;
    ev_io reading;
    ev_io writing;
    ev_timer beat;
    unsigned silent; /* beats since something was heard */
    bool is_over;    /* `why` is known, and is about to be told */
    const char *why; /* borrowed */
};

/* Takes IN and OUT, which do not block. */
void node_wire_open(struct node_wire *wire, int in, int out);
void node_wire_close(struct node_wire *wire);

/* The other end is to be heard from now on. */
void node_wire_start_heart(struct node_wire *wire);

/* Says who we are, before everything else. */
void node_wire_greet(struct node_wire *wire);

/* Sends a frame, now or soon. Nothing is sent over a wire that is over. */
void node_wire_send(struct node_wire *wire, enum node_frame type, uint32_t channel,
                    const char *data, size_t length);
void node_wire_tell(struct node_wire *wire, enum node_frame type, uint32_t channel,
                    json_t *message); /* taken */
void node_wire_give_credit(struct node_wire *wire, uint32_t channel, size_t length);

/* Takes what has come already: the other end is gone. */
void node_wire_drain(struct node_wire *wire);

/* The number in the DATA of a NODE_CREDIT. */
size_t node_wire_take_credit(const char *data);

/* Ends the wire, because of WHY, which is borrowed until `ended`. */
void node_wire_fail(struct node_wire *wire, const char *why);
