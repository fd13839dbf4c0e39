/* TLS for HTTP: a certificate and its key, and channels that are encrypted with them. */
#pragma once

#include "base/error.h"

struct http_channel;
struct tls;

/* The files, PEM: the certificate, with the chain to its issuer behind it, and its key, which other
 * users must not be able to read. Borrowed for the call. */
struct tls_files {
    const char *certificate;
    const char *key;
};

/* NULL with ERROR_CONFIG, also where this program was built without TLS. */
struct tls *tls_new(const struct tls_files *files, struct error *err);

/* Channels of TLS go on. */
void tls_free(struct tls *tls);

/* Reads the files again, for channels that are made from now on. On failure nothing changes. */
int tls_reload(struct tls *tls, const struct tls_files *files, struct error *err);

/* A channel through FD, a non-blocking socket, which is taken. The handshake is made by its first
 * reads; a client that speaks HTTP in clear is told so, in clear. */
struct http_channel *tls_accept(struct tls *tls, int fd);
