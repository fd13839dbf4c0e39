/* Whether scripts could change the server's own state, where the Pythons and packages of all lie.
 */
#pragma once

struct catalog;
struct config;

/* Complains in CONFIG about each place of CATALOG where scripts that are kept from the state can
 * write, if it meets the state or a link on the way to it. */
void state_checks(const struct catalog *catalog, struct config *config);
