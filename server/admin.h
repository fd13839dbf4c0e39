/* How the server is, for those who watch it: `/healthz` and `/metrics` on an address of their own,
 * which only this machine can reach. It answers to the end, so that it can say that the server is
 * stopping. */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <stdbool.h>

struct admin;

/* The state of the moment. */
struct admin_state {
    bool is_stopping;
    unsigned runs;        /* that have a place */
    unsigned queued_runs; /* that wait for one */
    unsigned connections;
    unsigned sessions; /* of HTTP */
};

struct admin_settings {
    struct ev_loop *loop; /* borrowed */
    const char *address;  /* see admin_address.h; borrowed until admin_open returns */
    const char *version;  /* borrowed */

    /* What is to be told now. */
    struct admin_state (*look)(void *data);
    void *data;
};

/* NULL with ERR when the address cannot be opened. */
struct admin *admin_open(const struct admin_settings *settings, struct error *err);

/* Harmless for NULL. */
void admin_close(struct admin *admin);
