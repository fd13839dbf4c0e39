/* All sessions: who may use which, how many there are, and for how long nobody uses one. */
#pragma once

#include "base/error.h"
#include "environments/notebook/notebook.h"

#include <ev.h>
#include <stdbool.h>

struct notebooks;

struct notebooks_settings {
    struct ev_loop *loop; /* borrowed */
    unsigned most;        /* in all; 0: none may be opened */
    unsigned most_per_owner;
    double idle_seconds; /* after which one that nobody uses is closed */
};

struct notebooks *notebooks_new(const struct notebooks_settings *settings);

/* Takes the numbers of SETTINGS from now on. Where none may be opened, those that are there are
 * closed. */
void notebooks_set_limits(struct notebooks *notebooks, const struct notebooks_settings *settings);

/* How many there are, those that are on their way out as well. */
unsigned notebooks_count(const struct notebooks *notebooks);

/* False: none may be opened. */
bool notebooks_are_offered(const struct notebooks *notebooks);
double notebooks_idle_seconds(const struct notebooks *notebooks);

/* A new session, whose Python starts with its first cell. Borrowed: it is there until it is closed,
 * has told that it has ended, or was not used for long; so look it up each time. NULL with
 * ERROR_BUSY: there are too many. */
struct notebook *notebooks_open(struct notebooks *notebooks, const struct notebook_request *request,
                                struct error *err);

/* A new session of the same owner that begins as a copy of ORIGIN, as that is after the cell that
 * is at work. It goes on in the same directory, and ends with the session that the first of its
 * origins is (lineage.h). That its Python could make no copy is the end of its first cell. NULL as
 * notebooks_open. */
struct notebook *notebooks_copy(struct notebooks *notebooks, struct notebook *origin,
                                struct error *err);

/* That of OWNER which is called HANDLE; else NULL, whether there is one or not. */
struct notebook *notebooks_find(const struct notebooks *notebooks, const char *owner,
                                const char *handle);

/* The next session of OWNER behind PREVIOUS (NULL: the first), or NULL. */
struct notebook *notebooks_next(const struct notebooks *notebooks, const char *owner,
                                struct notebook *previous);

/* Kills NOTEBOOK and the copies that end with it, which are found no more. Its cells end, at work
 * or waiting. */
void notebooks_close(struct notebook *notebook);

/* Kills the Python of NOTEBOOK, as notebooks_close does; its handle stands for a new session. */
void notebooks_restart(struct notebooks *notebooks, struct notebook *notebook);

/* Kills all of them; nobody is told. `notebooks_are_idle` becomes true when all have gone. */
void notebooks_stop(struct notebooks *notebooks);
bool notebooks_are_idle(const struct notebooks *notebooks);

/* Harmless for NULL. */
void notebooks_free(struct notebooks *notebooks);
