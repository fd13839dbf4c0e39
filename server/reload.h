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

/* True when the tokens of clients are in the file that they were in when the server was started, so
 * that they can be read again. */
bool reload_has_tokens(const json_t *started, const struct config *config);

/* Warns of everything in which CONFIG differs from STARTED, the tree that the server was started
 * with, and which counts at the start only. */
void reload_warn(const json_t *started, const struct config *config);
