/* The configuration, read again while the server serves. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct config;

/* Reads the file of CURRENT again, or a file that has appeared since if there was none. NULL after
 * its errors have been logged. */
struct config *reload_read(const struct config *current);

/* Logs the errors of CONFIG; the previous configuration stays. */
void reload_refuse(const struct config *config);

/* True when both CONFIG and STARTED, the tree that the server was started with, have KEY, or
 * neither has. The files it names can be read again, but the key itself cannot be added or removed
 * while the server runs. */
bool reload_keeps(const json_t *started, const struct config *config, const char *key);

/* Warns of each difference between CONFIG and STARTED that takes effect only at the next start. */
void reload_warn(const json_t *started, const struct config *config);
