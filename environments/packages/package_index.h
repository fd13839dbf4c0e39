/* Package indexes, as the settings of installers name them. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* True for TEXT, a variable or an option, with a URL that a password or a token is part of. */
bool package_index_has_secret(const char *text);

/* The host of an index without TLS, "HOST:PORT". An operator who writes its URL trusts it, but
 * installers need an option for such an index. NULL if URL is NULL or has TLS. Owned by the caller.
 */
char *package_index_plain_host(const char *url);

/* Whether installers take VALUE, of a variable, or NULL, for "yes". */
bool package_index_is_yes(const char *value);

/* Appends to LIST, NULL-terminated or NULL, the "HOST:PORT" of each URL (http, https) in TEXT, the
 * settings of an installer, except URLs of proxies; if LINKS_ONLY, only URLs of `find-links`. Owned
 * by the caller, for memory_free_strings. */
char **package_index_add_hosts(char **list /* taken */, const char *text, bool links_only);

/* Always fails. The error names WHAT, a variable or a file with a password. */
int package_index_refuse_secret(const char *what, struct error *err);
