/* Descriptors that travel beside bytes, over a Unix socket (unix(7), SCM_RIGHTS). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { DESCRIPTORS_BESIDE = 16 }; /* at most, beside one message */

/* Sends LENGTH bytes of DATA, and COUNT descriptors (borrowed) beside them. Returns as send(2),
 * with MSG_NOSIGNAL. */
ssize_t descriptors_send(int socket, const void *data, size_t length, const int *descriptors,
                         size_t count);

/* Receives as recv(2) with FLAGS. *RET_COUNT descriptors, at most LIMIT, are owned by the caller
 * and close on exec. If they are more than LIMIT, or more than this process can open, none arrives:
 * -1 with EMFILE. */
ssize_t descriptors_receive(int socket, void *data, size_t length, int flags, int *descriptors,
                            size_t limit, size_t *ret_count);
