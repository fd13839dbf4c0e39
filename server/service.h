/* What runs scripts, put together from one configuration: everything below the transports. */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <stdbool.h>

struct caller_rules;
struct catalog;
struct catalog_settings;
struct config;
struct environment;
struct executor;
struct instance;
struct process_host;
struct workplace;

struct service {
    struct ev_loop *loop;            /* owned; the default one would reap our children itself */
    const char *default_environment; /* borrowed from the configuration */
    struct caller_rules *rules;      /* for callers who may define environments; owned, as below */
    struct catalog *catalog;
    struct instance *instance;
    struct process_host *host;
    struct executor *executor;
    struct workplace *workplace;
};

/* How long working directories that were made for a caller are kept. */
enum service_keeping {
    SERVICE_KEEP_DIRECTORIES, /* as configured */
    SERVICE_DROP_DIRECTORIES, /* no longer than they are used */
};

/* The environments of CONFIG, which work with what is in SETTINGS; those that cannot be made are
 * complained about in CONFIG. */
struct catalog *service_open_catalog(const struct catalog_settings *settings,
                                     struct config *config);

/* What callers who may define environments may define, as CONFIG says, which outlives it. NULL
 * after what is wrong has been complained about in CONFIG. */
struct caller_rules *service_open_rules(struct config *config);

/* Opens everything. -1 with ERR; CONFIG, which must have had no errors, may then have some. It is
 * borrowed until service_close. */
int service_open(struct service *service, struct config *config, enum service_keeping keeping,
                 struct error *err);

/* What CONFIG says of environments, of callers, of limits and times counts from now on; what runs
 * or waits goes on as it was begun. -1 when CONFIG, which must have had no errors, turns out to
 * have some: then nothing has changed. Else it is borrowed, in the place of the one before. */
int service_reload(struct service *service, struct config *config);

/* The environment NAME, borrowed; NULL with ERROR_USAGE, which tells a name that is nearly it. */
struct environment *service_find_environment(const struct service *service, const char *name,
                                             struct error *err);

/* The server serves from now on: environments look for what earlier servers left behind, and those
 * that do not wait for a call are prepared. */
void service_begin(struct service *service);

/* Kills everything that runs, at once. */
void service_stop(struct service *service);

/* Runs the loop until nothing is left of what was stopped, a few seconds at most. */
void service_drain(struct service *service);

/* Releases everything. What is not drained dies with the program. Harmless after a failed open. */
void service_close(struct service *service);
