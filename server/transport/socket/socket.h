/* Listening sockets. Only the user who runs the server, and root, reach a unix one: it is 0600 in a
 * directory that nobody else can change. */
#pragma once

#include "base/error.h"
#include "server/transport/socket/address.h"

#include <sys/types.h>

/* The file of a unix socket, to be removed again if it is still the same one. */
struct socket_file {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": none */
    dev_t device;
    ino_t inode;
};

/* Makes the directory (0700) when it is missing and removes a socket that a dead server left
 * behind. The descriptor, or -1. */
int socket_open_unix(const struct endpoint *endpoint, struct socket_file *ret, struct error *err);

void socket_file_remove(struct socket_file *file);

/* The descriptor, or -1 with ERR; err->number is EAFNOSUPPORT or EADDRNOTAVAIL where this machine
 * has no such address. */
int socket_open_tcp(const struct endpoint *endpoint, struct error *err);

/* Where FD listens. */
int socket_get_endpoint(int fd, struct endpoint *ret, struct error *err);
