/* The way out of one run with a network of its own: pyexecd-proxy (helper/), a process tree of its
 * own, and the variables by which the programs of the run find it. */
#pragma once

#include "base/error.h"

struct egress;
struct process_host;

/* The open places: lists of "HOST:PORT", NULL-terminated, or NULL for none. Everything is borrowed.
 */
struct egress_way {
    char *const *hosts;    /* on the internet, or at an address that is in the list, too */
    char *const *anywhere; /* at any address: the operator's own servers */
    char *const *proxies;  /* HTTP_PROXY=, HTTPS_PROXY=, NO_PROXY=: the operator's proxies */
};

/* Starts the proxy at HELPER, a path, for WAY. NULL with ERR. */
struct egress *egress_start(struct process_host *host, const char *helper,
                            const struct egress_way *way, struct error *err);

/* The `outlet` of a struct process_sandbox; borrowed. */
int egress_outlet(const struct egress *egress);

/* The first places that were refused to programs so far, "HOST:PORT, HOST:PORT", or NULL. Each is
 * there before its program gets the refusal. To be called once. Owned by the caller. */
char *egress_refused(struct egress *egress);

/* The run is over; EGRESS, which may be NULL, frees itself when its tree has ended. */
void egress_stop(struct egress *egress);

/* The variables of a run that has WAY: NULL-terminated NAME=VALUE, for memory_free_strings. */
char **egress_variables(const struct egress_way *way);
