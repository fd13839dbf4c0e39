/* The far side of a node: `pyexecd node` prepares environments and executes code for the server
 * that holds the other end of its wire (nodes/node_protocol.h). It keeps nothing of a server: the
 * end of its input ends everything. */
#pragma once

#include "base/error.h"
#include "environments/process/host.h"

#include <ev.h>
#include <stdbool.h>

struct instance;
struct outpost;

/* Everything is borrowed, and outlives the outpost. */
struct outpost_settings {
    struct process_host_settings host; /* without `policy`, which the server decides */
    const char *state;                 /* see catalog_settings, as the next ones */
    const struct instance *instance;
    const char *container_init;
    const char *proxy;
};

/* Takes IN and OUT, which do not block, and speaks first. */
struct outpost *outpost_new(const struct outpost_settings *settings, int in, int out);

/* Kills everything. */
void outpost_stop(struct outpost *outpost);

/* True when it has ended, and none of its processes runs. */
bool outpost_is_over(const struct outpost *outpost);

/* Why it has ended; "" at the end of its input. Borrowed. */
const char *outpost_why(const struct outpost *outpost);

void outpost_free(struct outpost *outpost);
