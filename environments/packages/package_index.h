/* Where packages come from. */
#pragma once

/* The host of an index without TLS, "HOST:PORT". The operator trusts it by writing its URL, but
 * installers need an option for that. NULL if URL is NULL or has TLS. Owned by the caller. */
char *package_index_plain_host(const char *url);
