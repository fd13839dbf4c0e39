/* The certificate that the configuration names. */
#pragma once

struct config;
struct tls;

/* *RET is NULL where CONFIG names none. -1 after complaints in CONFIG. */
int tls_config_open(struct config *config, struct tls **ret);

/* Reads the files of CONFIG again. On an error, which is logged, TLS (may be NULL) stays as it was.
 */
void tls_config_reload(struct tls *tls, const struct config *config);
