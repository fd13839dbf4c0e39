/* What may stand in the configuration of OAuth as a URL. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* True for URLs that are fetched or believed: https, or http where it does not leave this machine.
 */
bool oauth_url_is_safe(const char *url);

/* Refuses with ERROR_CONFIG what is not in the one form by which clients know a resource: scheme
 * and host in lower case, no query, no fragment, no slash at the end. */
int oauth_url_check_resource(const char *url, struct error *err);

/* Where what is known about URL stands by RFC 8414 and RFC 9728: NAME between host and path,
 * `https://host/.well-known/NAME/path`. Owned by the caller. */
char *oauth_url_well_known(const char *url, const char *name);
