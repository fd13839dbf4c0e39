/* The way out of one run whose network is its own: pyexecd-proxy (helper/), a process tree of its
 * own, and what tells the programs of the run where it is. */
#pragma once

#include "base/error.h"

struct egress;
struct process_host;

/* Starts the proxy at HELPER, a path, for HOSTS (NULL-terminated "HOST:PORT"). *RET_OUTLET, owned
 * by the caller: see struct process_sandbox. NULL with ERR. */
struct egress *egress_start(struct process_host *host, const char *helper, char *const *hosts,
                            int *ret_outlet, struct error *err);

/* The run is over; EGRESS, which may be NULL, frees itself when its tree has ended. */
void egress_stop(struct egress *egress);

/* The variables of a run that may reach HOSTS: NULL-terminated NAME=VALUE, for memory_free_strings.
 */
char **egress_variables(char *const *hosts);
