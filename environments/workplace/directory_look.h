/* The changes that a run makes to its working directory, from a look before and a look after the
 * run.
 *
 * A look takes a few entries in each turn of the loop: a script may leave ten thousand directories
 * behind, and other callers do not wait for them. */
#pragma once

#include "base/outcome.h"
#include "environments/workplace/directory_listing.h"

#include <ev.h>

struct working_directory;

/* Embedded in the run. */
struct directory_look {
    struct ev_loop *loop;             /* borrowed */
    struct directory_listing *before; /* owned; or NULL */
    struct directory_listing *now;    /* owned; the newest look, or NULL */
    ev_idle turn;

    /* The look that was pending is over. */
    void (*done)(struct directory_look *look);
};

void directory_look_init(struct directory_look *look, struct ev_loop *loop,
                         void (*done)(struct directory_look *look));
void directory_look_deinit(struct directory_look *look);

/* Looks at DIRECTORY as it is now, instead of going on with an earlier look. READY or PENDING. */
enum outcome directory_look_start(struct directory_look *look,
                                  const struct working_directory *directory);
void directory_look_cancel(struct directory_look *look);

/* Changes count from the look that has just ended. */
void directory_look_note(struct directory_look *look);

/* The changes between the noted look and the newest. Their files are a new reference. */
struct directory_changes directory_look_changes(const struct directory_look *look);
