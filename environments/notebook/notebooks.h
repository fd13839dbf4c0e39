/* All sessions, by owner and handle, with limits on their number and on the time that they are
 * unused. */
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
    double idle_seconds; /* after which an unused session is closed */
    const char *replica; /* its name stands in new handles (base/handle.h); or NULL. Copied by
                            notebooks_new, and not changed later */
};

struct notebooks *notebooks_new(const struct notebooks_settings *settings);

/* Uses the numbers of SETTINGS from now on. If no session may be open, closes all. */
void notebooks_set_limits(struct notebooks *notebooks, const struct notebooks_settings *settings);

/* The number of sessions, including closed sessions that are not freed yet. */
unsigned notebooks_count(const struct notebooks *notebooks);

/* False: no session may be opened. */
bool notebooks_are_offered(const struct notebooks *notebooks);
double notebooks_idle_seconds(const struct notebooks *notebooks);

/* A new session, whose Python starts with its first cell. Borrowed: it is there until it is closed,
 * has told that it has ended, or was not used for long; so look it up each time. NULL with
 * ERROR_BUSY: there are too many. */
struct notebook *notebooks_open(struct notebooks *notebooks, const struct notebook_request *request,
                                struct error *err);

/* A new session of the same owner that begins as a copy of ORIGIN, made after its present cell. It
 * goes on in the same directory, and ends with the first session of its family. If the Python fails
 * to make the copy, the first cell says so. NULL with ERR: there are too many, or ORIGIN cannot be
 * copied. */
struct notebook *notebooks_copy(struct notebooks *notebooks, struct notebook *origin,
                                struct error *err);

/* The session HANDLE of OWNER, or NULL, also if HANDLE belongs to another owner. */
struct notebook *notebooks_find(const struct notebooks *notebooks, const char *owner,
                                const char *handle);

/* The next session of OWNER behind PREVIOUS (NULL: the first), or NULL. */
struct notebook *notebooks_next(const struct notebooks *notebooks, const char *owner,
                                struct notebook *previous);

/* Kills NOTEBOOK and the copies that end with it, and finds them no more. Their cells end, at work
 * or waiting. */
void notebooks_close(struct notebook *notebook);

/* Closes NOTEBOOK like notebooks_close, and gives its handle to a new session, which is opened for
 * REQUEST. -1 with ERROR_BUSY: too many of its owner's are ending. */
int notebooks_restart(struct notebooks *notebooks, struct notebook *notebook,
                      const struct notebook_request *request, struct error *err);

/* Kills all sessions without callbacks. `notebooks_are_idle` becomes true when all are freed. */
void notebooks_stop(struct notebooks *notebooks);
bool notebooks_are_idle(const struct notebooks *notebooks);

/* Harmless for NULL. */
void notebooks_free(struct notebooks *notebooks);
