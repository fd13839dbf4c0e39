/* A definition of type "docker" (schemas/environment.docker.json), which has its defaults. */
#pragma once

#include "base/error.h"
#include "environments/engine/engine_address.h"
#include "environments/packages/packages_definition.h"

#include <jansson.h>
#include <stdbool.h>

/* Members are called like their keys. They are borrowed from the JSON; NULL where that has no such
 * key. */
struct docker_definition {
    const char *host;
    struct engine_tls tls;
    const char *image; /* NULL where there is a dockerfile, also if it is the schema's default */
    const char *dockerfile;
    const json_t *build_args;
    const char *pull;
    struct packages_definition packages;
    const json_t *volumes; /* see docker_volume_read() */
    const char *network;
    const json_t *extra_hosts;
    const char *user;
    const char *container_name_prefix;
    double container_startup_timeout; /* seconds */
    bool cleanup_container;
    bool keep_container_running;
    const json_t *gpus; /* "all", a number, or a list of ids */
    const char *runtime;
};

struct docker_definition docker_definition_read(const json_t *definition);

/* -1 with ERR when it fits its schema and is invalid all the same; *RET_KEY is the key to blame. */
int docker_definition_check(const struct docker_definition *definition, const char **ret_key,
                            struct error *err);

/* The address of the engine, which may be the default one. */
int docker_definition_find_engine(const struct docker_definition *definition,
                                  struct engine_address *ret, struct error *err);
