/* The runs by which a call is tried in its kept container, one after the other.
 *
 * A run gets the go, and its init says INIT_BEGUN before anything runs: without that nothing has
 * run. So it is known whether the script has begun when its container is removed from outside. An
 * engine in a virtual machine shows other numbers of files, so its inits refuse every go; there the
 * script is executed without one. */
#pragma once

struct docker_tree;

enum kept_try {
    KEPT_TRY_WAITING, /* the run that waits in the container */
    KEPT_TRY_OWN,     /* a run that is started for the call */
    KEPT_TRY_PLAIN,   /* the same, without a go */
    KEPT_TRY_NONE,    /* the container is no good */
};

/* What comes after STEP, whose run TREE never began and has ended. */
enum kept_try kept_try_next(enum kept_try step, const struct docker_tree *tree);
