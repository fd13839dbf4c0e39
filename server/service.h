/* Everything below the transports, built from one configuration: it runs the scripts. */
#pragma once

#include "base/error.h"
#include "server/script_channel.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct caller_rules;
struct catalog;
struct catalog_settings;
struct config;
struct environment;
struct executor;
struct instance;
struct nodes;
struct notebooks;
struct process_host;
struct script_places;
struct toolbox;
struct workplace;

struct service {
    struct script_channels channels; /* to the tools of the operator, for scripts */
    struct ev_loop *loop;            /* owned; the default one would reap our children itself */
    struct config *config;           /* borrowed: the newest without errors */
    const char *default_environment; /* borrowed from the configuration */
    struct caller_rules *rules;      /* for callers who may define environments; owned, as below */
    struct catalog *catalog;
    struct instance *instance;
    struct nodes *nodes;
    struct process_host *host;
    struct executor *executor;
    struct notebooks *notebooks;
    struct workplace *workplace;
    struct toolbox *toolbox; /* the servers whose tools scripts may call */
    char *picture_helper;    /* the path of pyexecd-picture */
    char *start;             /* see service_find_start */
};

/* The definition of the pool NAME of NODES, as a configuration has them; see node_pool_hold. New
 * reference. */
json_t *service_node(const json_t *nodes, const char *name);

/* How long the working directories of callers are kept. */
enum service_keeping {
    SERVICE_KEEP_DIRECTORIES, /* as configured */
    SERVICE_DROP_DIRECTORIES, /* no longer than they are used */
};

/* Makes the environments of CONFIG with SETTINGS. CONFIG gets a complaint for each environment that
 * cannot be made. START: see service_find_start; it outlives the catalog. */
struct catalog *service_open_catalog(const struct catalog_settings *settings, struct config *config,
                                     const char *start);

/* The rules for callers who may define environments. CONFIG and START outlive
 * them. NULL after complaints in CONFIG. */
struct caller_rules *service_open_rules(struct config *config, const char *start);

/* The real path of PATH, the folder that the program was started in or has a script of, if scripts
 * in a sandbox may read it: the starter of the program can read it, too. NULL for a home and other
 * places that no script gets, and for NULL. STATE: the state directory, or NULL. Owned by the
 * caller. */
char *service_find_start(const char *path, const char *state);

/* Opens everything. START: see above; NULL where clients call that have not started the program. -1
 * with ERR; CONFIG, which must have had no errors, may then have some. It is borrowed until
 * service_close. */
int service_open(struct service *service, struct config *config, enum service_keeping keeping,
                 const char *start, struct error *err);

/* From now on the environments, callers, limits and times of CONFIG apply; running and waiting
 * calls go on as they began. CONFIG must have no errors before. -1 when it turns out to have some,
 * and then nothing has changed; otherwise it is borrowed in place of the previous one. */
int service_reload(struct service *service, struct config *config);

/* Whether scripts of ENVIRONMENT may work in DIRECTORY, a real path, where the server finds things
 * of its own; see origin_checks_directory. */
int service_check_directory(const struct service *service, const struct environment *environment,
                            const char *directory, struct script_places *ret_kept,
                            struct error *err);

/* From now on all scripts work in DIRECTORY, a real path, and only read KEPT there. */
void service_work_in(struct service *service, const char *directory,
                     const struct script_places *kept);

/* The environment NAME, borrowed; NULL with ERROR_USAGE, which suggests a similar name. */
struct environment *service_find_environment(const struct service *service, const char *name,
                                             struct error *err);

/* Called when the server begins to serve: environments look for the remains of earlier servers, and
 * eager environments are prepared. */
void service_begin(struct service *service);

/* Kills all runs, at once. */
void service_stop(struct service *service);

/* Runs the loop until every stopped object is gone, for a few seconds at most. */
void service_drain(struct service *service);

/* Releases everything. Processes that are not drained die with the program. Harmless after a failed
 * open. */
void service_close(struct service *service);
