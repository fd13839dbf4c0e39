/* Reads the frames of a wire out of a byte stream that comes in any pieces.
 *
 * A stream that does not begin with the hello is foreign: an engine tells there why it could not
 * start a process of ours. */
#pragma once

#include "base/wire.h"

enum { WIRE_HELD_BYTES = 40 }; /* of a whole frame, without memory of its own */

enum wire_state {
    WIRE_GREETING, /* waits for the rest of the hello */
    WIRE_OPEN,     /* waits for a head */
    WIRE_INSIDE,   /* waits for the bytes behind a head */
    WIRE_FOREIGN,
    WIRE_BROKEN, /* it is not made of frames of the protocol; the rest is ignored */
};

struct wire_reader {
    /* Inputs. */
    const struct wire_protocol *protocol;
    void (*frame)(struct wire_reader *reader, uint32_t type, const char *data,
                  size_t length); /* a whole one, or a piece of a split one, which is not empty */
    void (*foreign)(struct wire_reader *reader, const char *data,
                    size_t length); /* or NULL: what is foreign is broken */

    /* Private. */
    enum wire_state state;
    struct wire_head head;      /* of the frame that comes */
    size_t length;              /* the bytes of hello, head or frame so far */
    char held[WIRE_HELD_BYTES]; /* of a head or a whole frame, as far as it has come */
    char *large;                /* owned: the same of a larger frame; or NULL */
};

/* Takes the next bytes of a stream. READER is zeroed but for its inputs, which may not free it, and
 * for a `state` of WIRE_OPEN when no hello is to come. */
void wire_reader_feed(struct wire_reader *reader, const char *data, size_t length);

/* The stream has ended: what could have become a hello is foreign. */
void wire_reader_end(struct wire_reader *reader);

/* Needed where a whole frame can have more than WIRE_HELD_BYTES. */
void wire_reader_deinit(struct wire_reader *reader);
