/* The frames between the server and a pyexecd-init, over the attached stream of a container or a
 * socket (base/wire.h), and what is in them.
 *
 * Standard input and output of the init are the wire; its program prints into pipes, and the init
 * puts what it reads there into frames. No program ever holds the wire, and the init cannot be
 * traced, so whatever a program prints stays the payload of a frame, and cannot pass for a message.
 */
#pragma once

#include "base/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum init_frame {
    INIT_OUT = 1,   /* from the init: what the program has printed */
    INIT_ERRORS,    /* the same to stderr */
    INIT_BEGUN,     /* a script that was waited for begins now */
    INIT_NOT_BEGUN, /* there is no script, and the init ends */
    INIT_CELL,      /* the end of a cell: struct last_words */
    INIT_ENDED,     /* the end of the program, behind all its output: struct last_words */
    INIT_GO,        /* to the init: the script that it waits for is there: struct go */
    INIT_CODE,      /* the code of this script, on another machine */
    INIT_CELLS,     /* for the program of a session (init/cell_relay.h) */
    INIT_DISMISSAL, /* nothing more is wanted of the init: it ends */
    INIT_TOOLS,     /* before the go: without a socket for tools the script does not begin */
    INIT_FRAMES,
};

enum { INIT_PIECE_BYTES = 32 << 10 }; /* of one frame of output, code or cells, at most */

extern const struct wire_protocol init_protocol;

/* Frames. */
extern const char init_dismissal[WIRE_HEAD_BYTES];
extern const char init_tools[WIRE_HEAD_BYTES];

enum { GO_BYTES = 3 * 8 }; /* little-endian numbers */

/* The go: says to a pyexecd-init that was started ahead of its script that there is a script, and
 * names the file that must lie over script.py.
 *
 * The init begins only if it finds this file with this size. A process may have replaced script.py
 * and so uncovered it, and an engine on another machine could show old contents. The init then says
 * INIT_BEGUN first: without it nothing has run.
 *
 * On another machine the file has other device and inode numbers. There the go has none, the code
 * itself follows it (INIT_CODE), and the init begins if script.py has these bytes. */
struct go {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

struct go go_for(const struct stat *file);

/* A go for SIZE bytes of code, which follow it. */
struct go go_with_code(uint64_t size);
bool go_has_code(const struct go *go);

void go_encode(const struct go *go, char bytes[GO_BYTES]);
struct go go_decode(const char bytes[GO_BYTES]);

bool go_is_for(const struct go *go, const struct stat *file);

enum { LAST_WORDS_BYTES = 4 * 4 + 3 * 8 }; /* little-endian numbers */

enum last_words_flag {
    LAST_WORDS_OVERDUE = 1,       /* the program was killed at the init's own deadline */
    LAST_WORDS_SURVIVORS = 2,     /* a process could not be killed */
    LAST_WORDS_OUT_OF_MEMORY = 4, /* a process was killed for want of memory */
    LAST_WORDS_OUT_OF_DISK = 8,   /* the program was killed: too much in deleted files */
    LAST_WORDS_ASTRAY = 16,       /* the program was killed: it broke the protocol of cells */
    LAST_WORDS_HELPERS = 32,      /* helpers of Python (base/python_helpers.h) had to be killed */
};

/* The last words of a pyexecd-init: how its program ended, and how much it used. They come over the
 * wire when the program has ended and nothing else is left alive, behind all its output.
 *
 * Behind each cell of a session (init/cell_relay.h) come words, too. There `status` is the exit
 * status of the cell, `cpu_seconds` the time that the container has used meanwhile, `peak_bytes`
 * the most memory of its life, and the rest is 0. */
struct last_words {
    int32_t status;      /* of the program, as wait(2) has it */
    int32_t failure;     /* errno of the exec that failed; 0: the program ran */
    uint32_t leftovers;  /* other processes that had to be killed when the program had ended */
    uint32_t flags;      /* of enum last_words_flag */
    double run_seconds;  /* from the exec to the end of the program; microseconds count */
    double cpu_seconds;  /* user and system, of all processes that were waited for */
    uint64_t peak_bytes; /* the largest resident set */
};

void last_words_encode(const struct last_words *words, char bytes[LAST_WORDS_BYTES]);
struct last_words last_words_decode(const char bytes[LAST_WORDS_BYTES]);
