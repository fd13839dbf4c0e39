/* Stands for tls.c in a program that is built without TLS: tls_new fails, so nothing else is ever
 * called. */
#include "server/transport/http/tls.h"

#include <stdlib.h>

struct tls *tls_new(const struct tls_files *files, struct error *err)
{
    (void)files;
    error_set(err, ERROR_CONFIG, "this pyexecd was built without TLS");
    return NULL;
}

void tls_free(struct tls *tls)
{
    (void)tls;
}

int tls_reload(struct tls *tls, const struct tls_files *files, struct error *err)
{
    (void)tls;
    (void)files;
    (void)err;
    abort();
}

struct http_channel *tls_accept(struct tls *tls, int fd)
{
    (void)tls;
    (void)fd;
    abort();
}
