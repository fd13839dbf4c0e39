/* The state that the parts of a Docker environment share: the owner of the containers, the engine
 * that makes them, and the properties of the engine. */
#pragma once

#include "environments/docker/container_description.h"
#include "environments/docker/definition.h"
#include "environments/docker/volume.h"
#include "environments/engine/engine.h"
#include "environments/engine/engine_request.h"
#include "environments/environment.h"

#include <jansson.h>
#include <stdbool.h>

#define DOCKER_GRACE_SECONDS 5. /* after the deadline of the caller a script ends by itself */

enum { DOCKER_NOT_FOUND = 404 }; /* the engine's status for a thing that it does not have */

struct docker_site {
    struct environment *environment;     /* borrowed */
    struct docker_definition definition; /* of the environment */
    struct engine *engine;               /* owned */
    const struct instance *instance;     /* borrowed */
    char *init;                          /* owned: where pyexecd-init is */
    char *seccomp_file;                  /* owned: where the profile of system calls is */
    char *state;                         /* owned: the state directory */

    /* The engine; known while `is_met`. */
    bool is_met;
    bool is_rootless;   /* root in a container is its user outside */
    bool remaps_users;  /* the engine maps users to others, unless a container says otherwise */
    bool is_unfiltered; /* it cannot filter system calls */
    bool has_sockets;   /* a container has connected to a socket of this machine ... */
    bool lacks_sockets; /* ... or none yet, and one could not */
    json_t *missing;    /* owned: for receipts, the layers that its containers lack */
    char *architecture; /* owned: "amd64"; NULL: it does not say */

    /* The prepared image is gone: somebody has removed it. */
    bool is_stale;

    void (*met)(struct docker_site *site, const struct error *err); /* set by the owner */

    void (*stayed)(struct docker_site *site); /* owner's: one more container stays */

    /* Private. */
    struct engine_request request;
};

/* RECIPE's environment is ENVIRONMENT, which has been initialised. On failure *RET_KEY is the wrong
 * key of the definition. */
int docker_site_init(struct docker_site *site, struct environment *environment,
                     const struct environment_recipe *recipe, const char **ret_key,
                     struct error *err);
void docker_site_deinit(struct docker_site *site);

/* Asks the engine about itself, unless it has answered before. If PENDING, `met` will come. */
enum outcome docker_site_meet(struct docker_site *site);
void docker_site_cancel(struct docker_site *site);

/* The user of scripts in a container, "UID:GID" unless the operator has named one. Owned by the
 * caller. */
char *docker_site_user(const struct docker_site *site);

/* True if UID, of scripts, is another user than ours, since the operator has named a user. UID then
 * needs access to the working directory and the script, which are ours. */
bool docker_site_has_own_user(const struct docker_site *site, uid_t uid);

/* The engine is reached by TCP, and may be on another machine. */
static inline bool docker_site_is_remote(const struct docker_site *site)
{
    return !engine_socket(site->engine);
}

/* The reason why no socket comes into its containers; static storage. NULL: it does. */
const char *docker_site_lacks_sockets(const struct docker_site *site);

/* A name for a container that is not taken. Owned by the caller. */
char *docker_site_name(const struct docker_site *site);

/* The labels of a container that may be removed after SECONDS. New reference. */
json_t *docker_site_labels(const struct docker_site *site, double seconds);

/* The places that may not be mounted. */
struct docker_guarded docker_site_guarded(const struct docker_site *site);

/* The mounts of a container for REQUEST: the working directory, the operator's volumes, and the
 * file over the script. New reference; NULL with ERR. */
json_t *docker_site_mounts(const struct docker_site *site, const struct execution_request *request,
                           struct error *err);

/* Where the script of REQUEST is in a container. Owned by the caller. */
char *docker_site_script(const struct execution_request *request);

/* The description of a container, with the fields that SITE and PURPOSE determine. */
struct docker_container docker_site_container(const struct docker_site *site,
                                              enum docker_purpose purpose);
