/* The last words of a pyexecd-init: how its program ended, and how much it used. They come over the
 * wire (init_protocol.h) when the program has ended and nothing else is left alive, behind all its
 * output.
 *
 * Behind each cell of a session (init/cell_relay.h) come words, too. There `status` is the exit
 * status of the cell, `cpu_seconds` the time that the container has used meanwhile, `peak_bytes`
 * the most memory of its life, and the rest is 0. */
#pragma once

#include <stdint.h>

enum { LAST_WORDS_BYTES = 4 * 4 + 3 * 8 }; /* little-endian numbers */

enum last_words_flag {
    LAST_WORDS_OVERDUE = 1,       /* the program was killed at the init's own deadline */
    LAST_WORDS_SURVIVORS = 2,     /* a process could not be killed */
    LAST_WORDS_OUT_OF_MEMORY = 4, /* a process was killed for want of memory */
    LAST_WORDS_OUT_OF_DISK = 8,   /* the program was killed: too much in deleted files */
    LAST_WORDS_ASTRAY = 16,       /* the program was killed: it broke the protocol of cells */
    LAST_WORDS_HELPERS = 32,      /* helpers of Python (base/python_helpers.h) had to be killed */
};

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
