/* An environment: a place where Python runs, by name.
 *
 * Preparation makes it usable: it finds the interpreter, creates the venv, pulls the image,
 * installs packages. It is slow and done once. All calls that need it wait for the same
 * preparation, which is cancelled when the last of them has gone; after a failure the next call
 * tries again. A start then executes one script.
 */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "environments/environment_level.h"
#include "environments/environment_settings.h"
#include "environments/execution.h"
#include "environments/workplace/working_directory.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct environment;
struct import_record;
struct instance;
struct nodes;
struct python_facts;
struct python_places;
struct script_places;

/* The ingredients of an environment; passed to the constructor of its kind. */
struct environment_recipe {
    const char *name;
    const json_t *definition; /* valid by its schema; borrowed until the constructor returns */
    struct environment_settings settings;
    struct ev_loop *loop;      /* borrowed, as all below; NULL in a catalog that runs nothing */
    struct process_host *host; /* runs the programs of a preparation */
    const char *state;         /* an absolute path: the state directory */
    const struct instance *instance;
    const char *container_init;          /* an absolute path: the first program of a container */
    const char *proxy;                   /* an absolute path: pyexecd-proxy (egress/egress.h) */
    const struct script_places *written; /* where scripts of any environment can write; or NULL */
    const struct script_places
        *kept;           /* entries of their directory that scripts only read; or NULL */
    struct nodes *nodes; /* where environments with a `node` are; or NULL */
};

/* A caller waiting for a preparation; embedded in the run. */
struct environment_waiter {
    struct list link;
    struct environment *environment; /* borrowed; while it waits */

    /* A step has begun or moved on. A waiter that comes in the middle of a step is told at once,
     * from inside environment_prepare. May be NULL. */
    void (*progress)(struct environment_waiter *waiter, const struct preparation_step *step);
    void (*prepared)(struct environment_waiter *waiter, const struct error *err);
};

/* An observer is told when an environment has been prepared; embedded in the observing object. */
struct environment_observer {
    void (*prepared)(struct environment_observer *observer, struct environment *environment);
};

/* A kind of environments: its facts and functions that need no environment. */
struct environment_kind {
    const char *name; /* "system"; its schema is schemas/environment.system.json */

    enum isolation isolation; /* of its runs, unless they are in a sandbox */

    /* A new environment. NULL with ERR when a definition that fits the schema is impossible all the
     * same; *RET_KEY (static storage, may be NULL) is the key to blame. */
    struct environment *(*create)(struct environment_recipe *recipe, const char **ret_key,
                                  struct error *err);

    /* The path of the working directory as its scripts see it; NULL: its real path. */
    const char *workspace;

    /* A check of the configuration prepares it, because that fetches and installs nothing. */
    bool is_checkable;

    /* A call can define one only if the operator allows images or paths. */
    bool is_restricted;

    /* False when this machine has nothing that could run one now, so that models are not told of
     * it; NULL: it always has. */
    bool (*is_possible)(void);
};

/* Other machines, which have places of their own for runs. Embedded in the object of such machines.
 */
struct environment_machines {
    const char *name; /* by which the operator knows them */
    unsigned places;  /* runs at a time */
    bool are_apart;   /* their files are not those of this machine */
};

/* The functions of one environment; by its kind. */
struct environment_ops {
    const struct environment_kind *kind;

    /* The server has started: removes the remains of an earlier server. May be NULL. */
    void (*begin)(struct environment *environment);

    /* True when scripts can be started now. */
    bool (*is_prepared)(const struct environment *environment);

    /* Begins to prepare ENVIRONMENT, which is not prepared. The preparation reports its steps by
     * environment_step(); if it is PENDING, it ends by environment_end_preparation(). */
    enum outcome (*prepare)(struct environment *environment, struct error *err);

    /* Cancels the preparation and every program that it has started. */
    void (*cancel)(struct environment *environment);

    /* See environment_admit. NULL: scripts run as the server's user. */
    int (*admit)(const struct environment *environment, const char *directory, struct error *err);

    /* See environment_start. */
    struct execution *(*start)(struct environment *environment,
                               const struct execution_request *request,
                               struct execution_listener *listener, struct error *err);

    /* How the next script is delivered. */
    enum script_delivery (*delivery)(const struct environment *environment);

    /* True when runs can use one working directory at the same time, each with its own script.py.
     * Otherwise they take turns. */
    bool (*can_overlap)(const struct environment *environment);

    /* The machines that its runs are on. Borrowed; as long as it is used. NULL: this one. */
    const struct environment_machines *(*machines)(const struct environment *environment);

    /* The path of the Python and its version, for people. Borrowed; NULL while they are not known.
     */
    const char *(*describe_interpreter)(const struct environment *environment);
    const char *(*python_version)(const struct environment *environment);

    /* See environment_needs. NULL: its Python does not belong to this machine. */
    const char *const *(*needs)(const struct environment *environment);

    /* The path of the Python on this machine that can be asked for its packages, without anything
     * being prepared for it. Owned by the caller; NULL while there is none. May be NULL. */
    char *(*find_python)(const struct environment *environment);
    /* The programs that its Python is, or would be found among. Deinitialized by the caller. NULL:
     * its Python does not belong to this machine. */
    void (*find_candidates)(const struct environment *environment, struct python_places *ret);

    /* The places of this machine that its scripts can change beside those of its sandbox: real
     * paths, NULL-terminated, for memory_free_strings. May be NULL. */
    char **(*writes)(const struct environment *environment);

    /* The layers that would hold the next run, as far as is known. The end of a run has the layers
     * that really held it. */
    struct process_receipt (*expected_receipt)(const struct environment *environment);

    /* Describes the Python, the places and networks of scripts and the packages, for a person who
     * has to approve: "Network: none". An array of strings, each one line. New reference. */
    json_t *(*reach)(const struct environment *environment);

    /* See environment_lacks_tools. NULL: sockets come to its scripts. */
    const char *(*lacks_sockets)(const struct environment *environment);

    /* The last run has released it. May be NULL. */
    void (*rest)(struct environment *environment);

    /* Releases the things kept between runs; there are no more runs. `is_idle` is true when they
     * are released. Both may be NULL. */
    void (*stop)(struct environment *environment);
    bool (*is_idle)(const struct environment *environment);

    void (*free)(struct environment *environment);
};

/* While an environment is at rest, its kind knows whether it is prepared. */
enum environment_state {
    ENVIRONMENT_AT_REST,
    ENVIRONMENT_PREPARING,
};

struct environment {
    const struct environment_ops *ops;
    char *name;                /* owned */
    json_t *definition;        /* owned: its definition; never changed, kinds borrow from it */
    struct ev_loop *loop;      /* borrowed */
    struct process_host *host; /* borrowed */
    char *proxy;               /* owned: see the recipe; or NULL */
    char *server_state;        /* owned: the state directory; or NULL */
    const struct script_places *written; /* borrowed: see the recipe; or NULL */
    const struct script_places *kept;    /* the same */
    struct environment_settings settings;
    unsigned users; /* runs that have it; see environment_hold */
    char *unheld;   /* owned: see environment_level.h */

    struct list waiters; /* of struct environment_waiter: borrowed */
    enum environment_state state;
    struct preparation_step step; /* of the current preparation, or of the last one */
    unsigned absent;   /* layers that the last preparation was to be held by and was not */
    ev_timer deadline; /* of the preparation */
    struct environment_waiter eager; /* waits if the environment is eager */

    struct python_facts *facts;    /* owned; the newest answer of its Python about itself, or
                                      NULL */
    struct import_record *imports; /* owned: the modules that its scripts import */
    struct list survey;            /* in the list of environments whose Python is asked soon */
    struct environment_observer *observer; /* borrowed; or NULL */
};

/* The kind-independent half; for implementations. The settings are moved out of RECIPE. */
void environment_init(struct environment *environment, const struct environment_ops *ops,
                      struct environment_recipe *recipe);

/* No run may be waiting. */
void environment_deinit(struct environment *environment);

/* A run uses ENVIRONMENT, which is not freed until the run releases it. */
void environment_hold(struct environment *environment);
void environment_release(struct environment *environment);

/* The server has started. */
void environment_begin(struct environment *environment);

/* True when scripts can be started in ENVIRONMENT now. */
bool environment_is_prepared(const struct environment *environment);

/* READY: ENVIRONMENT is prepared. PENDING: WAITER->prepared will be called. */
enum outcome environment_prepare(struct environment *environment, struct environment_waiter *waiter,
                                 struct error *err);

/* WAITER is no longer called. If it was the last one, the preparation is cancelled. */
void environment_forget_waiter(struct environment_waiter *waiter);

/* For implementations: reports the current step of the preparation, and which FRACTION of it is
 * done (0 to 1; negative: unknown). Characters that are not printable are replaced. */
void environment_step(struct environment *environment, double fraction, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For implementations: ends the preparation that is under way; ERR NULL when it succeeded. The name
 * of the environment and the step are put before its message. */
void environment_end_preparation(struct environment *environment, const struct error *err);

/* FACTS (taken) describe its Python; NULL: none are known. */
void environment_learn(struct environment *environment, struct python_facts *facts);

/* Gives the user that runs the scripts of the prepared ENVIRONMENT access to DIRECTORY, a path, and
 * to all files that are made in it from now on. */
int environment_admit(const struct environment *environment, const char *directory,
                      struct error *err);

/* Puts FILES (provided_files.h; checked; or NULL) into DIRECTORY, and the module that the operator
 * gives to the scripts of ENVIRONMENT, which is prepared. They count as there before the run. Fails
 * with ERROR_INVALID_ARGUMENTS for files in what scripts only read there. */
int environment_put_files(const struct environment *environment,
                          const struct working_directory *directory, const json_t *files,
                          struct error *err);

/* The Jupyter kernel that executes the cells of its sessions; NULL: its Python does. Borrowed. */
const char *environment_kernel(const struct environment *environment);

/* The reason why scripts of ENVIRONMENT cannot call the tools that it has: no socket of this
 * machine comes to them (script_tools.h). NULL: they can, as far as is known, or it has none.
 * Static storage: "its engine is reached by TCP". */
const char *environment_lacks_tools(const struct environment *environment);

/* Starts to execute the script of REQUEST in a prepared ENVIRONMENT. LISTENER is called later,
 * never from inside. NULL with ERR when the script cannot be started. */
struct execution *environment_start(struct environment *environment,
                                    const struct execution_request *request,
                                    struct execution_listener *listener, struct error *err);

/* The paths of this machine that the Python of the prepared ENVIRONMENT needs to read, beyond the
 * system's own programs (/usr): NULL-terminated absolute paths, sorted, none inside another. A path
 * that is a link stands for the link only; see interpreter/python_needs.h. Borrowed until
 * ENVIRONMENT is prepared again; NULL when it needs nothing, because it brings a file system of its
 * own. */
const char *const *environment_needs(const struct environment *environment);

enum script_delivery environment_delivery(const struct environment *environment);
bool environment_can_overlap(const struct environment *environment);

/* The machines that its runs are on; NULL: this one. Borrowed while ENVIRONMENT is used. */
const struct environment_machines *environment_machines_of(const struct environment *environment);

/* Releases the preparation and the things kept between runs; there are no more runs. */
void environment_stop(struct environment *environment);
bool environment_is_idle(const struct environment *environment);

void environment_free(struct environment *environment);
