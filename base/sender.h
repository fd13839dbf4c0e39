/* The sender of bytes over a Unix socket, as the kernel names it (unix(7), SO_PASSCRED). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* From now on the kernel names the sender of each message that arrives at SOCKET. 0, or -1 with
 * errno set. */
int sender_ask(int socket);

/* Receives as recv(2) with FLAGS; descriptors beside the bytes are closed. *RET is the pid of the
 * sender, as this process sees it; it stays what it was when the kernel names none. */
ssize_t sender_receive(int socket, void *data, size_t length, int flags, pid_t *ret);
