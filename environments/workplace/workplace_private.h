/* The inside of a workplace, shared by the files that implement working_directory.h.
 *
 *     ROOT/                      0700
 *         p-ISOLATION-PRINCIPAL/ the principal's name, with what is unusual in a file name escaped
 *             HANDLE/            a working directory; a server that uses it holds a shared flock
 *         private-HEX/           one per server, which holds an exclusive flock: scripts that
 *                                containers get
 *         trash/                 directories being removed; they are moved here first, at once
 *         .pyexecd-HEX           for a moment: see trial_file.h
 *
 * A directory without a lock is in nobody's use, so several servers can share one root. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "environments/workplace/directory_listing.h"
#include "environments/workplace/directory_removal.h"
#include "environments/workplace/disk_ledger.h"
#include "environments/workplace/disk_survey.h"
#include "environments/workplace/working_directory.h"

#include <dirent.h>
#include <ev.h>
#include <fcntl.h>
#include <stdbool.h>

enum {
    HANDLE_DIGITS = 32, /* 128 random bits */
    WORKPLACE_OPEN_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    WORKPLACE_CREATE_TRIES = 3, /* a sweep may remove a new directory before it is locked */
    WORKPLACE_OUTPUTS = 2,      /* stdout and stderr */
};

#define PRINCIPAL_PREFIX "p-"
#define PRIVATE_PREFIX   "private-"
#define TRASH_NAME       "trash"

/* Finds and removes old directories, a few steps per turn of the loop. */
enum sweep_state {
    SWEEP_WAITING,  /* for its timer */
    SWEEP_LOOKING,  /* through the root */
    SWEEP_REMOVING, /* the contents of the trash */
};

struct sweep {
    enum sweep_state state;
    ev_timer timer;  /* every ten minutes, or soon while there is work; never holds the loop */
    DIR *root;       /* owned; while the root is looked through */
    DIR *principal;  /* owned; the present folder in it, or NULL */
    DIR *configured; /* owned; the configured directory, as long as it is looked through; or NULL */
    int trash;       /* owned; locked while it is being emptied, else -1 */
    struct directory_removal removal; /* of the trash */
    double removal_ends;              /* when this attempt ends */
};

struct workplace {
    struct ev_loop *loop;    /* borrowed */
    char *path;              /* owned; the configured directory, or NULL */
    unsigned isolations;     /* bits of enum isolation: runs that may use PATH */
    bool is_lent;            /* PATH belongs to a user */
    char *own_script;        /* owned; the user's script that runs execute, or NULL */
    bool is_script_extended; /* their code has more than its text */
    struct left_out_file outputs[WORKPLACE_OUTPUTS]; /* no files of runs; 0: none */
    char *root;                                      /* owned; without links */
    char *replica;      /* owned; its name stands in new handles; NULL: none does */
    int root_fd;        /* owned */
    char *private_name; /* owned */
    int private_fd;     /* owned, exclusively locked */
    double keep_seconds;
    struct list directories; /* of struct working_directory in use */
    struct sweep sweep;
    struct disk_ledger ledger; /* of the directories under the root */
    struct disk_survey survey;
    uint64_t (*free_bytes)(int fd); /* of the disk that FD is on, for everybody */
    struct workplace *annexes;      /* owned: a workplace whose private directory holds them; NULL:
                                       there are none */
};

struct working_directory {
    struct workplace *workplace; /* borrowed */
    struct list link;
    unsigned references;
    char *principal; /* owned; whose it is; NULL for the configured directory */
    enum isolation isolation;
    char *folder; /* owned; the principal's, in the root; NULL for the configured directory */
    char *handle; /* owned */
    char *path;   /* owned */
    int fd;       /* owned; locked: shared while it is used */
    int lock;     /* LOCK_SH, LOCK_EX or LOCK_UN, which none is */
    char *annex;  /* owned; or NULL */
    unsigned claims;
    bool is_exclusive;    /* the only claim executes script.py itself */
    char *newest_code;    /* owned; of the newest call, unless script.py holds it already */
    size_t newest_length; /* its bytes */
};

/* Scripts have the uid of the server and may have moved directories. Restores the root and the
 * private directory: in their places, accessible to the server only. */
int workplace_restore(struct workplace *workplace, struct error *err);

/* The directory at PLACE; NULL when there is none, or it is on its way out. New reference. */
struct working_directory *workplace_open_earlier(struct workplace *workplace,
                                                 const struct disk_place *place);

/* The share of PRINCIPAL. */
struct disk_share workplace_share(const struct workplace *workplace, const char *principal);

/* Objects for directories that are not opened yet, with one reference. */
struct working_directory *working_directory_new_configured(struct workplace *workplace);
struct working_directory *working_directory_new_temporary(struct workplace *workplace,
                                                          const struct disk_place *place);
void working_directory_free(struct working_directory *directory);

bool working_directory_is_temporary(const struct working_directory *directory);
bool working_directory_is_lent(const struct working_directory *directory);

/* Changes the lock to OPERATION of flock(2), without waiting. -1 means that another process holds
 * the lock, and none is held here; a file system without locks counts as unlocked. */
int working_directory_lock(struct working_directory *directory, int operation);

/* Takes the shared lock. Waits a moment for the exclusive lock of another server. -1 when it stays
 * locked. */
int working_directory_lock_shared(struct working_directory *directory);

/* Opens the directory at the path of DIRECTORY and locks it so that no sweep takes it. -1 with
 * errno set when it is missing or unusable. */
int working_directory_attach(struct working_directory *directory);

/* Makes the directory, then attaches to it. */
int working_directory_make(struct working_directory *directory, struct error *err);

/* Makes sure that the open directory is still at its path; a script may have moved or removed it.
 */
int working_directory_restore(struct working_directory *directory, struct error *err);

/* Notes that DIRECTORY was used now; the time for which it is kept starts over. */
void working_directory_touch(const struct working_directory *directory);

/* The size of DIRECTORY in the ledger: sets it, and reads it. */
void working_directory_note(const struct working_directory *directory, uint64_t bytes);
uint64_t working_directory_bytes(const struct working_directory *directory);

/* Where to find DIRECTORY again; borrowed from it. */
struct disk_place working_directory_place(const struct working_directory *directory);

void sweep_init(struct workplace *workplace);

/* Begins with a first look at once. */
void sweep_start(struct workplace *workplace);

/* Makes the next sweep come soon. */
void sweep_hurry(struct workplace *workplace);

/* Ends it. Empties the trash as far as that is possible in a moment. */
void sweep_stop(struct workplace *workplace);

/* Removes the empty annex of the working directory HANDLE, which is in the trash. */
void sweep_forget_annex(const struct workplace *workplace, const char *handle);

/* Moves the directory NAME in PARENT to the trash. */
int sweep_discard(struct workplace *workplace, int parent, const char *name);
