/* Which places of this machine may be mounted into containers. The operator chooses them; this
 * prevents mistakes: through the socket of the engine a script would be root here. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* The guarded places beside places of the system. Absolute paths; each may be NULL. */
struct docker_guarded {
    const char *socket; /* of the engine */
    const char *state;  /* the state directory of the server */
};

/* The file or directory that PATH (absolute) really is, with all symbolic links followed. NULL with
 * ERROR_UNAVAILABLE when there is none, or ERROR_CONFIG when it is, holds or lies in a guarded
 * place. Owned by the caller. */
char *docker_volume_resolve(const char *path, const struct docker_guarded *guarded,
                            struct error *err);

/* A file or directory of this machine that is mounted. Borrowed from the definition. */
struct docker_volume {
    const char *path;   /* here */
    const char *target; /* in the container */
    bool is_writable;   /* scripts may change it */
};

/* The volume at PATH that VALUE, its member of the key `volumes`, stands for. */
struct docker_volume docker_volume_read(const char *path, const json_t *value);

/* -1 with ERROR_CONFIG when nothing may be mounted at TARGET (absolute, without ".."), a place in a
 * container. */
int docker_volume_check_target(const char *target, struct error *err);
