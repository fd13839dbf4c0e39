/* What the configuration says about sandboxes: whether it can be so. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct config;

/* Complains of keys of sandboxes where no key is called so, ahead of the schema. */
void sandbox_checks_wrong_places(struct config *config, const json_t *root);

/* Complains of keys that count in a sandbox alone, where there is none. */
void sandbox_checks_keys(struct config *config, const json_t *root);

/* Complains of a Python that lies where scripts of another environment can write. */
void sandbox_checks_pythons(struct config *config, const json_t *root);

/* False, with complaints, when DEFINITION of the environment NAME opens a place to its scripts that
 * is not there, or that no script gets, or a host that is none. STATE: see sandbox_settings_read.
 */
bool sandbox_checks_places(struct config *config, const char *name, const json_t *definition,
                           const char *state);
