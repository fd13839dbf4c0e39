/* The relay between the server and the Python of a session, which is the program of this init.
 *
 * As INIT_CELLS come cells, one behind the end of the other: the length of the code in decimal
 * digits, a newline, and the code. The line "interrupted" may come before a cell. The relay passes
 * these bytes on to the program's own standard input, a socket. When the program answers there with
 * one byte, the exit status of the cell, the init says INIT_CELL (init_protocol.h) behind the
 * cell's output.
 *
 * A cell shares the process with the program, and may write anything to the socket. An answer when
 * no cell is at work, or more than one byte, ends the session. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    CELL_RELAY_READ_BYTES = 16 << 10,
    CELL_RELAY_HEAD_BYTES = 24, /* more digits than a length has */
};

struct wire_end;

struct cell_relay {
    struct wire_end *wire;            /* borrowed */
    int channel;                      /* the socket; -1: the program has closed its end */
    int theirs;                       /* the end of the program, until it is executed */
    char head[CELL_RELAY_HEAD_BYTES]; /* of a cell, as far as it has come */
    size_t head_length;
    bool is_busy;      /* a cell is at work: its head has come */
    double cpu_before; /* seconds that the container had used then */
    size_t left;       /* bytes of its code that have not come yet */
    char data[CELL_RELAY_HEAD_BYTES + CELL_RELAY_READ_BYTES]; /* on its way to the program */
    size_t begin;
    size_t end;
    bool is_astray; /* server or program has broken the protocol */
};

/* False when there is no socket. */
bool cell_relay_open(struct cell_relay *relay, struct wire_end *wire);

/* True when the program has got all data of the server, which may send more. */
bool cell_relay_is_empty(const struct cell_relay *relay);

/* The events to wait for at the socket, for poll(2). */
short cell_relay_events(const struct cell_relay *relay);

/* Takes DATA: at most CELL_RELAY_READ_BYTES, in any pieces, since the relay was empty. */
void cell_relay_take(struct cell_relay *relay, const char *data, size_t length);

/* The socket is ready. Says the end of a cell, until DEADLINE, clock_seconds(). */
void cell_relay_serve(struct cell_relay *relay, double deadline);
