/* The wire between the server and a process that watches a program for it: frames over a byte
 * stream or a stream socket, in both directions.
 *
 *     hello, then frames: {type, length} as little-endian numbers of 4 bytes, and LENGTH bytes
 *
 * The process that was started says the hello, before any program exists. Both ends are built
 * together, but need not run on the same kind of machine, and the files of one may have been
 * replaced since the other began. So a change of a protocol
 * changes the number in the hello. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_HELLO "pyexecd wire 1\n"

enum {
    WIRE_HELLO_BYTES = sizeof WIRE_HELLO - 1,
    WIRE_HEAD_BYTES = 8,
};

struct wire_head {
    uint32_t type;
    uint32_t length;
};

/* The bytes behind a head. */
struct wire_rule {
    size_t least;
    size_t most;
    bool is_split; /* they are handed on as they come, not as a whole */
};

/* The frames that two ends exchange. No frame has type 0. */
struct wire_protocol {
    uint32_t types;
    const struct wire_rule *rules; /* by type */
};

/* Little-endian numbers of COUNT bytes. */
char *wire_put(char *bytes, uint64_t number, size_t count);
uint64_t wire_take(const char **bytes, size_t count);

void wire_put_head(char head[WIRE_HEAD_BYTES], uint32_t type, size_t length);

/* False when PROTOCOL has no frame with this head. */
bool wire_take_head(const struct wire_protocol *protocol, const char head[WIRE_HEAD_BYTES],
                    struct wire_head *ret);
