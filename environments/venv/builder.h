/* Making one virtual environment: aside, and into its place when it is whole.
 *
 *     STATE/venvs/.new-KEY/      the scratch directory: locked, so that of two servers that want
 * the same one makes it and the other waits (see scratch_directory.h)
 *
 *     LOCKING -> EMPTYING -> ASKING -> INSTALLING -> CLEANING
 *           `--> WAITING -------------------------------^
 *
 * It tells how it ended when nothing is left but the venv. One that is given up tells nothing, and
 * ends by itself: its installer has to be waited for, and what that has left removed. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "environments/venv/search.h"
#include "environments/workplace/scratch_directory.h"
#include "environments/workplace/tree_removal.h"

#include <ev.h>
#include <stdbool.h>

struct base_python;
struct environment;
struct requirements;
struct subprocess;

/* What is to be made; everything is borrowed while it is being made. */
struct venv_plan {
    struct environment *environment; /* whose steps are told */
    const char *state;               /* the state directory */
    const char *key;                 /* what others who want the same call it */
    const char *path;                /* where the venv will be */
    const char *aside;               /* where it is made, on the same file system; NULL: inside the
                                      * scratch directory */
    enum venv_finding finding;       /* what is at PATH; not USABLE */
    bool system_site_packages;

    /* One of them says what it is made from: known, or found and not asked yet. */
    const struct base_python *base;
    const struct interpreter *interpreter;
    const char *version; /* of the one that is there */

    const struct requirements *requirements;
    const char *packages; /* their digest, for the record; NULL: there are none */
    const char *index_url;
    const char *find_links;
    bool allow_source_builds;
};

enum venv_builder_state {
    BUILDER_LOCKING,    /* has not tried to lock yet */
    BUILDER_WAITING,    /* for another builder, which has the lock */
    BUILDER_EMPTYING,   /* removes what somebody has left who was killed */
    BUILDER_ASKING,     /* waits for the interpreter's account of itself */
    BUILDER_INSTALLING, /* waits for the installer */
    BUILDER_CLEANING,   /* removes what is left */
};

struct venv_builder {
    /* Inputs. */
    struct list link; /* in its owner's list, until it is freed */
    void (*done)(struct venv_builder *builder, const struct error *err); /* NULL once given up */

    /* Private. */
    struct venv_plan plan;
    struct ev_loop *loop; /* borrowed */
    enum venv_builder_state state;
    struct scratch_directory scratch;
    char *aside;                       /* owned */
    struct base_python *base;          /* owned; asked by this builder, or NULL */
    char *installing;                  /* owned; the names of packages */
    struct subprocess *tool;           /* borrowed: the one that runs, or NULL */
    struct tree_removal removal;       /* of what is aside */
    struct directory_removal emptying; /* of the scratch directory */
    ev_timer timer;
    struct error error; /* how it ends */
    struct error_rest error_rest;
};

/* Starts to make PLAN: LIST holds the builder until it is freed, which it does by itself. */
struct venv_builder *venv_builder_start(const struct venv_plan *plan, struct list *list,
                                        void (*done)(struct venv_builder *builder,
                                                     const struct error *err));

/* `done` does not come any more, and nothing of the plan is used. */
void venv_builder_cancel(struct venv_builder *builder);
