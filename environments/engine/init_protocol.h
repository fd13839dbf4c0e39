/* The frames between the server and a pyexecd-init, over the attached stream of a container or a
 * socket (base/wire.h).
 *
 * Standard input and output of the init are the wire; its program prints into pipes, and the init
 * puts what it reads there into frames. No program ever holds the wire, and the init cannot be
 * traced, so whatever a program prints stays the payload of a frame, and cannot pass for a message.
 */
#pragma once

#include "base/wire.h"
#include "environments/engine/go.h"
#include "environments/engine/last_words.h"

enum init_frame {
    INIT_OUT = 1,   /* from the init: what the program has printed */
    INIT_ERRORS,    /* the same to stderr */
    INIT_BEGUN,     /* a script that was waited for begins now */
    INIT_NOT_BEGUN, /* there is no script, and the init ends */
    INIT_CELL,      /* the end of a cell: last_words.h */
    INIT_ENDED,     /* the end of the program, behind all its output: last_words.h */
    INIT_GO,        /* to the init: the script that it waits for is there (go.h) */
    INIT_CODE,      /* the code of this script, on another machine */
    INIT_CELLS,     /* for the program of a session (init/cell_relay.h) */
    INIT_DISMISSAL, /* nothing more is wanted of the init: it ends */
    INIT_FRAMES,
};

enum { INIT_PIECE_BYTES = 32 << 10 }; /* of one frame of output, code or cells, at most */

extern const struct wire_protocol init_protocol;

extern const char init_dismissal[WIRE_HEAD_BYTES]; /* a frame */
