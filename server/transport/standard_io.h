/* Standard input and output as a connection.
 *
 * They are moved away from 0 and 1, so that nothing else in this program can read or write them,
 * and must not wait, although our starter may share them: a pipe or terminal is opened once more,
 * as an open file of our own; where that is not possible its flags are changed and put back at the
 * end. Sockets and regular files need neither. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

enum { STANDARD_IO_SHARED = 2 };

/* An open file whose flags have been changed. */
struct standard_io_shared {
    int fd; /* owned; -1: none */
    int flags;
};

struct standard_io {
    struct standard_io_shared shared[STANDARD_IO_SHARED];
};

#define STANDARD_IO_INIT                                                                           \
    {                                                                                              \
        .shared = { {.fd = -1}, {.fd = -1} }                                                       \
    }

/* Afterwards 0 is /dev/null and 1 is stderr. *RET_IN and *RET_OUT are the caller's. */
int standard_io_open(struct standard_io *io, int *ret_in, int *ret_out, struct error *err);

/* Puts back the flags. May be called twice, and for STANDARD_IO_INIT. */
void standard_io_close(struct standard_io *io);
