/* The init's end of the wire (engine/init_protocol.h), and the streams of its program.
 *
 * Over the engine, standard output of the init is the wire. Its program prints into two pipes,
 * which the init reads when the wire takes more. Over a socket of the server (direct_streams.h)
 * the program gets pipes that the server reads itself. */
#pragma once

#include "environments/engine/init_protocol.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    WIRE_END_OUTPUTS = 2,                    /* stdout and stderr of the program */
    WIRE_END_WATCHED = WIRE_END_OUTPUTS + 1, /* and the wire */
};

struct wire_end {
    int out;                      /* the wire; -1: it is broken */
    int prints[WIRE_END_OUTPUTS]; /* the program's output is read here; -1: not, or no more */
    int theirs[WIRE_END_OUTPUTS]; /* the ends of the program, until it is executed */
    int tools;                    /* a descriptor for who opens the wire; or -1 */
    char pending[WIRE_HEAD_BYTES + INIT_PIECE_BYTES]; /* a frame that the wire has not taken */
    size_t begin;
    size_t end;
};

/* Says hello: over the socket at PATH if the server answers there, else over standard output. With
 * the socket, it becomes standard input, too. PATH may be NULL. False when there is no wire. */
bool wire_end_open(struct wire_end *wire, const char *path);

/* The events to wait for, for poll(2). */
void wire_end_watch(const struct wire_end *wire, struct pollfd watched[WIRE_END_WATCHED]);

/* Passes on what has been printed, as much as the wire takes. */
void wire_end_serve(struct wire_end *wire, const struct pollfd watched[WIRE_END_WATCHED]);

/* Passes on all that has been printed so far. Like the next two it gives up at DEADLINE,
 * clock_seconds(). */
void wire_end_flush(struct wire_end *wire, double deadline);

/* Says a message that has only a TYPE. */
void wire_end_say(struct wire_end *wire, enum init_frame type, double deadline);

/* Says WORDS in a message of TYPE, behind all that has been printed. */
void wire_end_say_words(struct wire_end *wire, enum init_frame type, const struct last_words *words,
                        double deadline);
