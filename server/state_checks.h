/* Whether scripts could change the server's own state, where the Pythons and packages of all lie.
 */
#pragma once

#include <stdbool.h>

struct catalog;
struct config;
struct environment;

/* True if scripts of ENVIRONMENT that work in DIRECTORY, a real path, are kept from other files. A
 * home is known as a place without a sandbox (sandbox_policy.h); and who gives it to a container
 * gives it all that his programs read at their start. */
bool state_checks_keep(const struct environment *environment, const char *directory);

/* Complains in CONFIG about each place of CATALOG where scripts that are kept from the state can
 * write, if it meets the state or a link on the way to it. */
void state_checks(const struct catalog *catalog, struct config *config);
