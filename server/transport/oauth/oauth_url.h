/* Rules for the URLs in the configuration of OAuth. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* True for URLs that are fetched or believed: https, or http where it does not leave this machine.
 */
bool oauth_url_is_safe(const char *url);

/* Refuses URL with ERROR_CONFIG unless it has the form by which clients know a resource: scheme and
 * host in lower case, no query, no fragment, no slash at the end. */
int oauth_url_check_resource(const char *url, struct error *err);

/* The place of the metadata about URL by RFC 8414 and RFC 9728: NAME between host and path,
 * `https://host/.well-known/NAME/path`. Owned by the caller. */
char *oauth_url_well_known(const char *url, const char *name);
