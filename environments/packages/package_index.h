/* Where packages come from. */
#pragma once

/* The host of an index that is reached without TLS, "HOST:PORT": that the operator has written its
 * URL is enough to trust it, but installers want to be told so. NULL: URL is NULL, or has TLS.
 * Owned by the caller. */
char *package_index_plain_host(const char *url);
