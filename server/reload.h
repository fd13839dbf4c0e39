/* The configuration, read again while the server serves. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct config;

/* The file that CURRENT was read from as it is now; where there was none, one that has come since
 * then. NULL after its errors have been logged. */
struct config *reload_read(const struct config *current);

/* Logs the errors of CONFIG, which the one before survives. */
void reload_refuse(const struct config *config);

/* True when CONFIG has KEY as STARTED has, the tree that the server was started with, or neither:
 * the files that it names can be read again, but it cannot begin or cease to count. */
bool reload_keeps(const json_t *started, const struct config *config, const char *key);

/* Warns of everything in which CONFIG differs from STARTED and which counts at the start only. */
void reload_warn(const json_t *started, const struct config *config);
