/* The wire between the server and a pyexecd-init: frames over a byte stream, which may be the
 * attached stream of a container or a socket.
 *
 *     hello, then frames: {type, length} as little-endian numbers of 4 bytes, and LENGTH bytes
 *
 * The init says the hello, before its program exists. Standard input and output of the init are the
 * wire; its program prints into pipes, and the init puts what it reads there into frames. No
 * program ever holds the wire, and the init cannot be traced, so whatever a program prints stays
 * the payload of a frame, and cannot pass for a message.
 *
 * A stream that does not begin with the hello is not of an init: an engine tells there why it could
 * not start one.
 *
 * Both ends are built together, but need not run on the same kind of machine. */
#pragma once

#include "environments/engine/go.h"
#include "environments/engine/last_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_HELLO "pyexecd wire 1\n"

enum wire_type {
    WIRE_OUT = 1,   /* from the init: what the program has printed */
    WIRE_ERRORS,    /* the same to stderr */
    WIRE_BEGUN,     /* a script that was waited for begins now */
    WIRE_NOT_BEGUN, /* there is no script, and the init ends */
    WIRE_CELL,      /* the end of a cell: last_words.h */
    WIRE_ENDED,     /* the end of the program, behind all its output: last_words.h */
    WIRE_GO,        /* to the init: the script that it waits for is there (go.h) */
    WIRE_CODE,      /* the code of this script, on another machine */
    WIRE_CELLS,     /* for the program of a session (init/cell_relay.h) */
    WIRE_DISMISSAL, /* nothing more is wanted of the init: it ends */
    WIRE_TYPES,
};

enum {
    WIRE_HELLO_BYTES = sizeof WIRE_HELLO - 1,
    WIRE_HEAD_BYTES = 8,
    WIRE_PIECE_BYTES = 32 << 10,           /* of one frame of output, code or cells, at most */
    WIRE_MESSAGE_BYTES = LAST_WORDS_BYTES, /* of any other frame, at most */
};

enum wire_state {
    WIRE_GREETING, /* waits for the rest of the hello */
    WIRE_OPEN,
    WIRE_FOREIGN, /* it is not of an init */
    WIRE_BROKEN,  /* it is not made of frames; the rest is ignored */
};

struct wire_reader {
    /* Inputs. */
    void (*piece)(struct wire_reader *reader, enum wire_type type, const char *data,
                  size_t length); /* of output, code or cells */
    void (*message)(struct wire_reader *reader, enum wire_type type, const char *payload);
    void (*foreign)(struct wire_reader *reader, const char *data, size_t length);

    /* Private. */
    enum wire_state state;
    char held[WIRE_HEAD_BYTES + WIRE_MESSAGE_BYTES]; /* of a frame, as far as it has come */
    size_t length;                                   /* of the hello or of `held` */
    size_t left;                                     /* bytes of a piece that have not come */
};

/* Little-endian numbers of COUNT bytes. */
char *wire_put(char *bytes, uint64_t number, size_t count);
uint64_t wire_take(const char **bytes, size_t count);

void wire_put_head(char head[WIRE_HEAD_BYTES], enum wire_type type, size_t length);

extern const char wire_dismissal[WIRE_HEAD_BYTES]; /* a frame */

/* Takes the next bytes of a stream, in any pieces. READER is zeroed but for its inputs, which may
 * not free it. */
void wire_reader_feed(struct wire_reader *reader, const char *data, size_t length);

/* The stream has ended: what could have become a hello is foreign. */
void wire_reader_end(struct wire_reader *reader);
