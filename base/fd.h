/* Operations on descriptors that take several lines with the C library alone. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

int fd_set_nonblocking(int fd, struct error *err);

/* Whether FD takes PIPE_BUF bytes now, or fails, without waiting. */
bool fd_has_room(int fd);

/* Writes all LENGTH bytes to FD, going on after signals, and waits as long as it takes. */
int fd_write_all(int fd, const char *data, size_t length, struct error *err);

/* Reads the rest of a blocking FD, NUL-terminated, at most LIMIT bytes; owned by the caller. NULL
 * with ERR, ERROR_LIMIT when there is more. */
char *fd_read_all(int fd, size_t limit, size_t *ret_length, struct error *err);

/* The whole file at PATH, NUL-terminated, at most LIMIT bytes; owned by the caller. */
char *fd_read_file(const char *path, size_t limit, size_t *ret_length, struct error *err);

/* Makes the file PATH, which must not be there yet, of LENGTH bytes with MODE. A file that cannot
 * be written whole is removed. */
int fd_write_new_file(const char *path, mode_t mode, const char *data, size_t length,
                      struct error *err);

/* The same, whatever file or link was there before; a reader of PATH finds the old file or the
 * whole new one. */
int fd_replace_file(const char *path, mode_t mode, const char *data, size_t length,
                    struct error *err);

/* Makes the directory PATH and its parents. Directories that were missing get MODE. */
int fd_make_directories(const char *path, mode_t mode, struct error *err);
