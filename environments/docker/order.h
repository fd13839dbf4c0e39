/* A script that is to have a container of its own, or the program of a session: a copy of its
 * request. The container is described from this copy, and a similar container for the next call,
 * too. */
#pragma once

#include "environments/execution.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct direct_streams;
struct docker_facts;
struct docker_site;

struct docker_order {
    struct docker_site *site;         /* borrowed */
    const struct docker_facts *image; /* borrowed: of the prepared image */
    char *python;                     /* owned: the program */
    struct execution_request request; /* owned with all its strings; without the code */
    bool stays;                       /* the container stays, to be looked at */
    bool has_own_user;                /* UID needs access to the script */
    uid_t uid;
};

/* The properties in which containers of equal orders differ. Everything is borrowed. */
struct docker_order_container {
    const char *code_file; /* the file to lay over the script; of a session: a name for files */
    const char *streams;   /* the socket for its streams (direct_streams.h); NULL: none */
    bool needs_tools;      /* see struct docker_container */
    double idle_seconds;   /* for which it may wait for its script; 0: it does not */
};

struct docker_order *docker_order_new(struct docker_site *site, const struct docker_facts *image,
                                      const char *python, const struct execution_request *request);
void docker_order_free(struct docker_order *order);

/* Offers STREAMS beside CODE_FILE to a container for ORDER, if the engine is on this machine. */
void docker_order_offer_streams(const struct docker_order *order, const char *code_file,
                                struct direct_streams *streams);

/* The user that needs access to the script, borrowed; NULL: none. */
const uid_t *docker_order_reader(const struct docker_order *order);

/* The body of the request to create CONTAINER. New reference; NULL with ERR. */
json_t *docker_order_describe(const struct docker_order *order,
                              const struct docker_order_container *container, struct error *err);

/* Which file or directory SOURCE is now. A container that has mounted it keeps its inode from being
 * used for another one. New reference. */
json_t *docker_order_identity(const char *source);

/* The description without the properties of one container, and with the inodes that are mounted:
 * orders with equal keys can take each other's containers. New reference; NULL with ERR. */
json_t *docker_order_key(const struct docker_order *order, struct error *err);
