/* The proxies of the operator, as an installer would use them. Pure functions. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* The proxies that uv (IS_UV) or pip would use with VARIABLES and OF_PIP, the `proxy` in the
 * settings of pip, or NULL: as HTTP_PROXY=, HTTPS_PROXY= and NO_PROXY=, NULL-terminated, for
 * memory_free_strings. NULL with ERR: only the installer itself could use such a proxy. */
char **installer_proxies_find(bool is_uv, const char *const *variables, const char *of_pip,
                              struct error *err);

/* The `proxy` in TEXT, the settings of pip; NULL: there is none. Owned by the caller. */
char *installer_proxies_read_setting(const char *text);

/* Whether VARIABLE names a proxy for installers. */
bool installer_proxies_have(const char *variable);
