/* Health and metrics of the server: `/healthz` and `/metrics` on an address of their own, which
 * only this machine can reach. It answers until the very end, so it can report that the server
 * stops. */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct admin;

/* A snapshot. */
struct admin_state {
    bool is_stopping;
    unsigned runs;          /* running */
    unsigned queued_runs;   /* waiting */
    unsigned pythons;       /* started ahead of their code, outside of containers */
    unsigned zygotes;       /* Pythons that are copied for such starts */
    uint64_t zygote_memory; /* bytes that the zygotes have */
    unsigned connections;
    unsigned sessions;        /* of HTTP */
    unsigned python_sessions; /* Pythons that are kept from call to call */
};

struct admin_settings {
    struct ev_loop *loop; /* borrowed */
    const char *address;  /* the value of `admin`; borrowed until admin_open returns */
    const char *version;  /* borrowed */

    /* Returns the snapshot to report. */
    struct admin_state (*look)(void *data);
    void *data;
};

/* NULL with ERR when the address cannot be opened. */
struct admin *admin_open(const struct admin_settings *settings, struct error *err);

/* Harmless for NULL. */
void admin_close(struct admin *admin);
