/* Cleans the state directory: removes unfinished work of servers that were killed, virtual
 * environments that have not been used for a long time, and old records of virtual environments
 * elsewhere that are gone (record.h). It does so once, some time after the start
 * of the server, a little at a time. */
#pragma once

#include "environments/workplace/directory_removal.h"

#include <dirent.h>
#include <ev.h>

#define VENV_KEPT_SECONDS (30 * 86400.0) /* after its last use */
/* The same where a call adds packages to an environment: each list of them has a venv. */
#define VENV_KEPT_BRIEFLY 3600.0

enum venv_sweep_state {
    VENV_SWEEP_OFF,      /* before it, and when it is done */
    VENV_SWEEP_WAITING,  /* waits until the server has started */
    VENV_SWEEP_LOOKING,  /* looks at an entry of the folder in each turn */
    VENV_SWEEP_REMOVING, /* removes the tree that was found */
    VENV_SWEEP_CHECKING, /* checks a record in each turn, when all venvs were looked at */
};

struct venv_sweep {
    enum venv_sweep_state state;
    struct ev_loop *loop; /* borrowed */
    char *folder;         /* owned: STATE/venvs */
    char *records;        /* owned: STATE/venv-records */
    DIR *entries;         /* owned; of the one or the other, if there is such a folder */
    struct tree_removal removal;
    ev_timer timer; /* holds no loop */
};

void venv_sweep_start(struct venv_sweep *sweep, struct ev_loop *loop, const char *state);
void venv_sweep_stop(struct venv_sweep *sweep);

/* The venv at PATH is being used now, and is kept for SECONDS, or longer if it is locked. */
void venv_sweep_note_use(const char *path, double seconds);
