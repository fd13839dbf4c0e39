/* Where a Docker engine is, as the operator writes it:
 *
 *     unix:///PATH            a socket of this machine
 *     tcp://HOST[:PORT]       port 2375; with TLS when certificates are given, then port 2376
 *     https://HOST[:PORT]     TLS, with the system's certificates when none are given
 *
 * A certificate of the engine is always verified. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct engine_address {
    char *text;        /* owned: for messages */
    char *socket_path; /* owned; NULL: not a socket of this machine */
    char *base_url;    /* owned: "http://HOST:PORT" */
    char *ca_file;     /* owned; NULL: the system's */
    char *cert_file;   /* owned; NULL: none is shown to the engine */
    char *key_file;    /* owned; NULL: none */
};

struct engine_tls {
    const char *ca_file; /* each may be NULL */
    const char *cert_file;
    const char *key_file;
};

/* Reads TEXT, or fails with ERROR_CONFIG. TLS may be NULL. Nothing is looked up or opened. */
int engine_address_parse(const char *text, const struct engine_tls *tls, struct engine_address *ret,
                         struct error *err);

/* The address in DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, else
 * unix:///var/run/docker.sock. */
int engine_address_default(struct engine_address *ret, struct error *err);

/* False when ADDRESS is a socket of this machine that does not exist, or is closed to our user. To
 * try more would start an engine that its socket activates. */
bool engine_address_is_open(const struct engine_address *address);

void engine_address_deinit(struct engine_address *address);
