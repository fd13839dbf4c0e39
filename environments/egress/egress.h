/* The way out of one run whose network is its own: pyexecd-proxy (helper/), a process tree of its
 * own, and what tells the programs of the run where it is. */
#pragma once

#include "base/error.h"

struct egress;
struct process_host;

/* What is open: lists of "HOST:PORT", NULL-terminated, or NULL for none. Everything is borrowed. */
struct egress_way {
    char *const *hosts;    /* on the internet, or at an address that is in the list, too */
    char *const *anywhere; /* wherever its name leads: the operator's own servers */
    char *const *proxies;  /* HTTP_PROXY=, HTTPS_PROXY=, NO_PROXY=: of the operator's, on the way */
};

/* Starts the proxy at HELPER, a path, for WAY. NULL with ERR. */
struct egress *egress_start(struct process_host *host, const char *helper,
                            const struct egress_way *way, struct error *err);

/* For struct process_sandbox; borrowed. */
int egress_outlet(const struct egress *egress);

/* The first places that were asked for so far and are not open, "HOST:PORT, HOST:PORT", or NULL:
 * who was refused one has been told no sooner. For one call. Owned by the caller. */
char *egress_refused(struct egress *egress);

/* The run is over; EGRESS, which may be NULL, frees itself when its tree has ended. */
void egress_stop(struct egress *egress);

/* The variables of a run that has WAY: NULL-terminated NAME=VALUE, for memory_free_strings. */
char **egress_variables(const struct egress_way *way);
