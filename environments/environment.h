/* An environment: a place where Python runs, by name.
 *
 * Two steps. `prepare` makes it usable (finds the interpreter, and in later kinds creates the venv
 * or pulls the image): slow, done once, shared by the calls that wait for it, tried again by the
 * next call after a failure. `command` then says what to execute for one script; starting it is the
 * same for every local kind. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "environments/process/process.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct environment;

/* What every environment has, whatever its kind. */
struct environment_settings {
    double timeout;     /* seconds, for a call that names none */
    double max_timeout; /* seconds, the most a call may ask for */
    struct process_limits limits;
    uint64_t disk;    /* bytes the working directory may grow by in a run */
    size_t output;    /* bytes kept of each stream */
    char **variables; /* NULL-terminated NAME=VALUE, the operator's; owned */
};

/* What an environment is made from; passed to the constructor of its kind. */
struct environment_recipe {
    const char *name;
    const json_t *definition; /* has passed its schema; borrowed */
    struct environment_settings settings;
    struct ev_loop *loop;      /* borrowed */
    struct process_host *host; /* borrowed; runs what preparing needs */
};

/* A caller waiting for a preparation; embedded in the run. */
struct environment_waiter {
    struct list link;
    void (*prepared)(struct environment_waiter *waiter, const struct error *err);
};

struct environment_ops {
    const char *kind; /* "system" */

    /* Begins to make ENVIRONMENT usable; environment_prepared() ends a PENDING preparation. */
    enum outcome (*prepare)(struct environment *environment, struct error *err);

    /* The interpreter that runs scripts once prepared: absolute path, borrowed. */
    const char *(*interpreter)(const struct environment *environment);
    const char *(*python_version)(const struct environment *environment);
    void (*free)(struct environment *environment);
};

struct environment {
    const struct environment_ops *ops;
    char *name;           /* owned */
    struct ev_loop *loop; /* borrowed */
    struct environment_settings settings;
    struct list waiters; /* of struct environment_waiter: borrowed */
    bool preparing;
};

/* The kind-independent half; for implementations. The settings are moved out of RECIPE. */
void environment_init(struct environment *environment, const struct environment_ops *ops,
                      struct environment_recipe *recipe);
void environment_deinit(struct environment *environment);

/* Frees what SETTINGS own. */
void environment_settings_deinit(struct environment_settings *settings);

/* READY: usable now. PENDING: WAITER->prepared will be called. */
enum outcome environment_prepare(struct environment *environment, struct environment_waiter *waiter,
                                 struct error *err);
void environment_forget_waiter(struct environment_waiter *waiter);

/* For implementations: ends the preparation that is under way; ERR NULL when it succeeded. */
void environment_prepared(struct environment *environment, const struct error *err);

void environment_free(struct environment *environment);
