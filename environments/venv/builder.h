/* Makes one virtual environment aside, and moves it into its place when it is complete.
 *
 *     STATE/venvs/.new-KEY/      the scratch directory, locked: if two servers want the same
 *                                venv, the second waits for the first (place.h)
 *
 *     LOCKING -> EMPTYING -> ASKING -> ADOPTING -> INSTALLING -> MOVING -> CLEANING
 *           `--> WAITING --------------------------------------------------^
 *
 * `done` is called when everything but the venv is removed. A builder that was cancelled ends by
 * itself: it waits for its installer and removes its files, for some seconds if need be. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/venv/anchors.h"
#include "environments/venv/place.h"
#include "environments/venv/scripts.h"
#include "environments/venv/search.h"
#include "environments/workplace/directory_removal.h"

#include <ev.h>
#include <stdbool.h>

struct base_python;
struct environment;
struct requirements;
struct subprocess;

/* The venv to make; everything is borrowed while it is being made. */
struct venv_plan {
    struct environment *environment; /* its steps are reported */
    struct tool_holding holding;     /* for the programs that make it */
    const char *state;               /* the state directory */
    const char *key;                 /* equal for equal venvs */
    const char *path;                /* where the venv will be */
    const char *kept;                /* where its record is (record.h), or NULL */
    const char *aside; /* the place where it is made, on the same file system; NULL: inside the
                          scratch directory */
    enum venv_finding finding; /* about PATH; not USABLE */
    const char *parent;        /* see layout.h */
    bool system_site_packages; /* likewise */

    /* The Python that the venv is made from: BASE if its facts are known, else INTERPRETER, which
     * is asked. */
    const struct base_python *base;
    const struct interpreter *interpreter;
    const char *version; /* of the Python in the venv that is there */
    char **directories;  /* that this Python says it uses */

    const struct requirements *requirements;
    const char *packages; /* the digest of the packages, for the record; NULL: there are none */
    const char *index_url;
    const char *find_links;
    bool allow_source_builds;
};

enum venv_builder_state {
    BUILDER_LOCKING,    /* has not tried to lock yet */
    BUILDER_WAITING,    /* waits for another builder, which has the lock */
    BUILDER_EMPTYING,   /* removes files of an earlier builder */
    BUILDER_ASKING,     /* waits for the facts about the base Python */
    BUILDER_ADOPTING,   /* copies programs of the parent */
    BUILDER_SEEKING,    /* waits for the machine's own pip to name its index */
    BUILDER_INSTALLING, /* waits for the installer */
    BUILDER_MOVING,     /* gives what was installed its interpreter */
    BUILDER_CLEANING,   /* removes its own files */
};

struct venv_builder {
    /* Inputs. */
    struct list link; /* in its owner's list, until it is freed */
    void (*done)(struct venv_builder *builder, const struct error *err); /* NULL once given up */

    /* Private. */
    struct venv_plan plan;
    struct ev_loop *loop; /* borrowed */
    enum venv_builder_state state;
    struct venv_scratch scratch;
    char *aside;                       /* owned */
    struct base_python *base;          /* owned; asked by this builder, or NULL */
    char *system_index;                /* owned; see interpreter/base_python.h; or NULL */
    char *installing;                  /* owned; the names of packages */
    struct venv_anchors anchors;       /* before packages are installed */
    struct subprocess *tool;           /* borrowed: the running program, or NULL */
    struct venv_scripts programs;      /* while they are adopted or moved */
    struct tree_removal removal;       /* of the tree aside */
    struct directory_removal emptying; /* of the scratch directory */
    unsigned removals;                 /* that have left something */
    ev_timer timer;
    struct error error; /* how it ends */
    struct error_rest error_rest;
};

/* Starts to make PLAN: LIST holds the builder until it is freed, which it does by itself. */
struct venv_builder *venv_builder_start(const struct venv_plan *plan, struct list *list,
                                        void (*done)(struct venv_builder *builder,
                                                     const struct error *err));

/* `done` is not called any more, and the plan is not used any more. */
void venv_builder_cancel(struct venv_builder *builder);
