/* The environments that calls have defined. The same definition finds the same environment with its
 * preparation. The number is limited: a new environment replaces the least recently used one. */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <stdbool.h>

struct environment;
struct shelf;

enum {
    SHELF_PLACES = 32,
    SHELF_SHARE = SHELF_PLACES / 2, /* the most that runs may hold of one owner's */
};

/* LOOP is borrowed. */
struct shelf *shelf_new(struct ev_loop *loop);

/* The environment that was put under KEY, which counts as used now. Borrowed, or NULL. */
struct environment *shelf_find(struct shelf *shelf, const char *key);

/* True if ENVIRONMENT, which a run holds, was put here. */
bool shelf_has(const struct shelf *shelf, const struct environment *environment);

/* Makes room for one more of OWNER's. -1 with ERROR_BUSY when all are in use, or his share is. */
int shelf_make_room(struct shelf *shelf, const char *owner, struct error *err);

/* Puts ENVIRONMENT (taken) under KEY, which is new. There is room for it. */
void shelf_put(struct shelf *shelf, const char *key, const char *owner,
               struct environment *environment);

/* Stops all of them; there are no more runs. */
void shelf_stop(struct shelf *shelf);
bool shelf_is_idle(const struct shelf *shelf);

/* Frees an idle shelf and its environments. */
void shelf_free(struct shelf *shelf);
