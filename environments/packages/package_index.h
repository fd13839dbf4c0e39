/* Where packages come from. */
#pragma once

#include <stdbool.h>

/* True for TEXT, a variable or an option, with a URL that a password or a token is part of. */
bool package_index_has_secret(const char *text);

/* The host of an index without TLS, "HOST:PORT". The operator trusts it by writing its URL, but
 * installers need an option for that. NULL if URL is NULL or has TLS. Owned by the caller. */
char *package_index_plain_host(const char *url);

/* Whether VALUE of a variable, or NULL, is what installers take for "yes". */
bool package_index_is_yes(const char *value);

/* Appends to LIST, NULL-terminated or NULL, the "HOST:PORT" of each URL (http, https) in TEXT, the
 * settings of an installer, but for those of proxies; of LINKS_ONLY, those where `find-links` finds
 * packages beside all indexes. Owned by the caller, for memory_free_strings. */
char **package_index_add_hosts(char **list /* taken */, const char *text, bool links_only);
