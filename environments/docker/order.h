/* A script that is to have a container of its own, or the program of a session: a copy of its
 * request, from which the container is described, and another one like it for the next call. */
#pragma once

#include "environments/execution.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct docker_facts;
struct docker_site;

struct docker_order {
    struct docker_site *site;         /* borrowed */
    const struct docker_facts *image; /* borrowed: what is prepared */
    char *python;                     /* owned: the program */
    struct execution_request request; /* what it points to is owned; without the code */
    bool stays;                       /* the container stays, to be looked at */
    bool has_own_user;                /* UID has to be let in */
    uid_t uid;
};

/* What one container has of its own. Everything is borrowed. */
struct docker_order_container {
    const char *nonce;     /* of the last words */
    const char *code_file; /* what is laid over the script; NULL: of a session */
    const char *streams;   /* where its init finds its streams (direct_streams.h); NULL: nowhere */
    double idle_seconds;   /* for which it may wait for its script; 0: it does not */
};

struct docker_order *docker_order_new(struct docker_site *site, const struct docker_facts *image,
                                      const char *python, const struct execution_request *request);
void docker_order_free(struct docker_order *order);

/* Who has to be let in to read the script, or NULL: nobody. Borrowed. */
const uid_t *docker_order_reader(const struct docker_order *order);

/* The body of the request to create CONTAINER. New reference; NULL with ERR. */
json_t *docker_order_describe(const struct docker_order *order,
                              const struct docker_order_container *container, struct error *err);

/* The description without what a container has of its own, and with what its mounts are now: orders
 * with equal ones can take each other's containers. New reference; NULL with ERR. */
json_t *docker_order_key(const struct docker_order *order, struct error *err);
