/* Checks the keys for sandboxes in a configuration. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct config;

/* Complains, ahead of the schema, of keys of sandboxes in places where they mean nothing. */
void sandbox_checks_wrong_places(struct config *config, const json_t *root);

/* Complains of keys that count only in a sandbox, in environments without one. */
void sandbox_checks_keys(struct config *config, const json_t *root);

/* Complains of a Python, or of what it is installed from, that lies where scripts of another
 * environment can write, or holds such a place. */
void sandbox_checks_pythons(struct config *config, const json_t *root);

/* False, with complaints, when DEFINITION of the environment NAME opens a missing or forbidden
 * place to its scripts, or a malformed host. STATE: see sandbox_settings_read. */
bool sandbox_checks_places(struct config *config, const char *name, const json_t *definition,
                           const char *state);
