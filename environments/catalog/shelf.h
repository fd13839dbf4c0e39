/* The environments that calls have defined, by what they were made from: the same definition finds
 * the same environment, and all that was prepared for it. Only so many are kept; for a new one the
 * one goes that was not used for the longest time, as soon as it has given up what it holds. */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <stdbool.h>

struct environment;
struct shelf;

enum { SHELF_PLACES = 32 };

/* LOOP is borrowed. */
struct shelf *shelf_new(struct ev_loop *loop);

/* The environment that was put under KEY, which counts as used now. Borrowed, or NULL. */
struct environment *shelf_find(struct shelf *shelf, const char *key);

/* Makes sure that there is a place for one more; -1 with ERROR_BUSY when every one is in use. */
int shelf_make_room(struct shelf *shelf, struct error *err);

/* Puts ENVIRONMENT (taken) under KEY, where there is none yet, into the room that was made. */
void shelf_put(struct shelf *shelf, const char *key, struct environment *environment);

/* All of them give up what they hold; no run is going any more. */
void shelf_stop(struct shelf *shelf);
bool shelf_is_idle(const struct shelf *shelf);

/* Frees an idle shelf and what is in it. */
void shelf_free(struct shelf *shelf);
