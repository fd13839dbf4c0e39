/* The directory in which a run begins. Files stay in it from call to call.
 *
 * It is either a configured path, or a directory per caller and isolation under a root: named by an
 * unguessable handle, kept for a while after its last use, then removed. Runs of different
 * isolation never use the same directory, at once or in turn, except for a configured path if the
 * operator said so. Several runs may use one directory at a time, each with its own code laid over
 * script.py, where scripts cannot rename it. Where that is not possible script.py itself is
 * executed, and runs wait for each other. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "environments/process/isolation.h"
#include "environments/workplace/disk_share.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct workplace;         /* the place of all working directories */
struct working_directory; /* a working directory, counted by reference */

struct workplace_settings {
    struct ev_loop *loop;
    const char *path;    /* every call works there; or NULL: directories are made under ... */
    unsigned isolations; /* bits of enum isolation: runs with these may work at PATH */
    const char *root;    /* ... ROOT (0700, made when missing), needed for private files too */
    double keep_seconds; /* after their last use */
    const char *replica; /* its name stands in new handles (base/handle.h); or NULL */
};

struct workplace *workplace_new(const struct workplace_settings *settings, struct error *err);
void workplace_free(struct workplace *workplace);

#define ANNEXES_NAME "packages" /* of the root for annexes in the state directory */

/* From now on each directory has an annex (working_directory_annex) under ROOT, like the root of
 * the settings. */
int workplace_open_annexes(struct workplace *workplace, const char *root, struct error *err);

/* Sets the isolations whose runs may work at the configured path from now on. */
void workplace_set_isolations(struct workplace *workplace, unsigned isolations);

/* From now on every run, of any isolation, works at PATH, an existing directory that a user lends,
 * and overwrites no file there. SCRIPT is the path of the user's file that runs execute, and their
 * code is its text; NULL: each run has a new file of its own beside the user's files, while it
 * lasts. -1 when nobody can work there. */
int workplace_lend(struct workplace *workplace, const char *path, const char *script,
                   struct error *err);

/* From now on runs execute SCRIPT, the path of a file of the user's that scripts see there; their
 * code is its text. NULL: no more. */
void workplace_set_script(struct workplace *workplace, const char *script);

/* Runs have more code than the file from now on. */
void workplace_extend_script(struct workplace *workplace);

/* From now on the files that stdout and stderr of this process lead to are no files of runs. */
void workplace_leave_out_output(struct workplace *workplace);

/* True when TEXT looks like the handle of a working directory. */
bool workplace_is_handle(const char *text);

/* How long directories are kept after their last use, from now on. */
void workplace_set_keeping(struct workplace *workplace, double seconds);

/* The configured directory of all calls, borrowed; NULL if each caller has a directory of its own.
 */
const char *workplace_path(const struct workplace *workplace);

/* A directory for runs of PRINCIPAL with ISOLATION: the directory HANDLE, or a new directory if
 * HANDLE is NULL. In a workplace with a configured path it is always this path. NULL with
 * ERROR_INVALID_ARGUMENTS for a handle that is unknown, somebody else's or of another isolation,
 * and for a configured path that ISOLATION may not use; with ERROR_LIMIT for a new one when
 * PRINCIPAL has used up its share of the disk. New reference. */
struct working_directory *workplace_open(struct workplace *workplace, const char *principal,
                                         enum isolation isolation, const char *handle,
                                         struct error *err);
/* The directory HANDLE of PRINCIPAL, of any isolation, or the configured path if any of ISOLATIONS
 * (bits) may use it. NULL: there is none. New reference. */
struct working_directory *workplace_find(struct workplace *workplace, const char *principal,
                                         unsigned isolations, const char *handle);
struct working_directory *working_directory_ref(struct working_directory *directory);
void working_directory_unref(struct working_directory *directory);

const char *working_directory_path(const struct working_directory *directory);
int working_directory_fd(const struct working_directory *directory); /* borrowed */
const char *working_directory_handle(const struct working_directory *directory);

/* The annex of DIRECTORY: a directory of the server, in which each session of DIRECTORY has a
 * directory for its packages. Every sandbox of DIRECTORY shows it read-only, so that a Python that
 * waits can become a session. It goes with DIRECTORY, and at the latest with the server. NULL:
 * there is none. Borrowed. */
const char *working_directory_annex(struct working_directory *directory);

/* Begins to remove the directory NAME in the annex of DIRECTORY. */
void working_directory_clear_annex(struct working_directory *directory, const char *name);

/* The share of the principal of DIRECTORY. It is never used up by a configured directory. */
struct disk_share working_directory_share(const struct working_directory *directory);

/* How the code of a run reaches its interpreter, always under the path of script.py. */
enum script_delivery {
    SCRIPT_IN_PLACE, /* script.py itself is executed; nobody else may be at work in the directory */
    SCRIPT_LAID_OVER, /* the code is laid over script.py when the run starts */
    SCRIPT_IN_FILE,   /* laid over from a private file, for which the claim has a path */
};

/* One run's use of a directory, embedded in the run. */
struct directory_claim {
    struct working_directory *directory; /* a reference; NULL: no claim */
    enum script_delivery delivery;
    char *script;     /* path of script.py, or NULL; owned */
    char *file;       /* the path of a private file, which is removed with the claim if there is
                       * one; NULL: it was not asked for; owned */
    char *guest;      /* the name of this run's file in a directory that is lent, or NULL; owned */
    bool is_measured; /* all files of its run are noted; else a survey follows */
    uint64_t used_before; /* bytes of the file system */
};

/* True when a new claim would have to wait for another to be released: the directory is in use, and
 * either CAN_OVERLAP is false or it executes script.py itself. */
bool working_directory_is_busy(const struct working_directory *directory, bool can_overlap);

/* Claims DIRECTORY, which is not busy: it is in use, here and for other servers, until the claim is
 * closed. */
int directory_claim_open(struct directory_claim *claim, struct working_directory *directory,
                         enum script_delivery delivery, struct error *err);

/* Delivers CODE as far as the claim does that, and shows it to people as script.py: at once, or
 * when nobody is at work in the directory any more. A directory that is lent has no script.py. */
int directory_claim_write(struct directory_claim *claim, const char *code, size_t length,
                          struct error *err);

/* Gives CLAIM the path of a private file. Done already for code with SCRIPT_IN_FILE. */
void directory_claim_offer_file(struct directory_claim *claim);

void directory_claim_close(struct directory_claim *claim);
