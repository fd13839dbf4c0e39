/* The HTTP endpoint and its certificate, as the configuration says. */
#pragma once

#include <jansson.h>

struct authority;
struct config;
struct http_endpoint;
struct mcp_server;
struct replicas;
struct tls;

/* TREE is the whole configuration. AUTHORITY admits clients; or NULL; borrowed, like SERVER.
 * REPLICAS is taken; or NULL. */
struct http_endpoint *http_config_open(struct mcp_server *server, struct authority *authority,
                                       struct replicas *replicas, const json_t *tree);

/* *RET is NULL where CONFIG names none. -1 after complaints in CONFIG. */
int tls_config_open(struct config *config, struct tls **ret);

/* Reads the files of CONFIG again. On an error, which is logged, TLS (may be NULL) stays as it was.
 */
void tls_config_reload(struct tls *tls, const struct config *config);
