/* The proxies of the operator, as an installer would go by them. Pure functions. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* What IS_UV or pip would do with VARIABLES and the `proxy` in the settings of pip, OF_PIP, or
 * NULL: HTTP_PROXY=, HTTPS_PROXY= and NO_PROXY=, NULL-terminated, for memory_free_strings. NULL
 * with ERR: there is one that only the installer itself could go by. */
char **installer_proxies_find(bool is_uv, const char *const *variables, const char *of_pip,
                              struct error *err);

/* The `proxy` in TEXT, the settings of pip; NULL: there is none. Owned by the caller. */
char *installer_proxies_read_setting(const char *text);

/* Whether VARIABLE is one of those that installers go by. */
bool installer_proxies_have(const char *variable);
