/* The last words of a pyexecd-init: it writes them to stderr when its program has ended and nothing
 * else is left alive. They say how the program ended and how much it used. They end the stream, and
 * carry a nonce that no program in the container gets to know, so they cannot be forged. Behind a
 * script they end stdout, too: a reader of both has all the output.
 *
 *     NUL, nonce, then the numbers as little-endian bytes: LAST_WORDS_BYTES in all
 *
 * Behind each cell of a session (init/cell_relay.h) come words with another nonce, which the server
 * has sent with the cell. There `status` is the exit status of the cell, `cpu_seconds` the time
 * that the container has used meanwhile, `peak_bytes` the most memory of its life, and the rest is
 * 0.
 *
 * The init writes the words, the server takes them out of the program's output. Both are built
 * together, but need not run on the same kind of machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAST_WORDS_VARIABLE "PYEXECD_NONCE" /* the environment variable that brings the nonce */

enum {
    LAST_WORDS_NONCE = 32, /* characters, none of them NUL */
    LAST_WORDS_MARK = 1 + LAST_WORDS_NONCE,
    LAST_WORDS_BYTES = LAST_WORDS_MARK + 4 * 4 + 3 * 8, /* less than a pipe takes at once */
};

enum last_words_flag {
    LAST_WORDS_OVERDUE = 1,       /* the program was killed at the init's own deadline */
    LAST_WORDS_SURVIVORS = 2,     /* a process could not be killed */
    LAST_WORDS_OUT_OF_MEMORY = 4, /* a process was killed for want of memory */
    LAST_WORDS_OUT_OF_DISK = 8,   /* the program was killed: too much in deleted files */
    LAST_WORDS_ASTRAY = 16,       /* the program was killed: it broke the protocol of cells */
};

struct last_words {
    int32_t status;      /* of the program, as wait(2) has it */
    int32_t failure;     /* errno of the exec that failed; 0: the program ran */
    uint32_t leftovers;  /* processes that had to be killed when the program had ended */
    uint32_t flags;      /* of enum last_words_flag */
    double run_seconds;  /* from the exec to the end of the program; microseconds count */
    double cpu_seconds;  /* user and system, of all processes that were waited for */
    uint64_t peak_bytes; /* the largest resident set */
};

void last_words_encode(const struct last_words *words, const char *nonce,
                       char bytes[LAST_WORDS_BYTES]);

/* BYTES are known to begin with the mark. */
void last_words_decode(struct last_words *words, const char bytes[LAST_WORDS_BYTES]);

/* Takes last words out of a stream that comes in any pieces. Only bytes that could begin last words
 * are held back. */
struct last_words_reader {
    char held[LAST_WORDS_BYTES]; /* begins with the mark, as far as it goes */
    size_t length;
    char mark[LAST_WORDS_MARK];
    void (*output)(struct last_words_reader *reader, const char *data, size_t length);
};

/* NONCE has LAST_WORDS_NONCE characters. */
void last_words_reader_init(struct last_words_reader *reader, const char *nonce);
void last_words_reader_feed(struct last_words_reader *reader, const char *data, size_t length);

/* Feeds DATA as far as the end of the first words with this mark. Returns the number of these
 * bytes; if *RET_HAS, the words are *RET_WORDS. */
size_t last_words_reader_feed_first(struct last_words_reader *reader, const char *data,
                                    size_t length, bool *ret_has, struct last_words *ret_words);

/* True with *RET_WORDS when last words have come, and nothing behind them so far. */
bool last_words_reader_peek(const struct last_words_reader *reader, struct last_words *ret_words);

/* The stream has ended. True with *RET_WORDS when it ended with last words; else the bytes that
 * were held back are output. */
bool last_words_reader_end(struct last_words_reader *reader, struct last_words *ret_words);
