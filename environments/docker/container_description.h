/* The description that an engine makes a container from. Hardened by default: no capability, no
 * new privileges, a root file system that cannot be written to, no network, limits on
 * everything, no log on disk. Pure functions. */
#pragma once

#include "environments/docker/definition.h"
#include "environments/environment.h"

#include <jansson.h>
#include <stdbool.h>

#define DOCKER_WORKSPACE "/workspace" /* where the working directory is */

/* They lie directly below the root, since a script may be able to rename any other directory, and
 * so to put one of its own in the place of a mount. */
#define DOCKER_INIT    "/.pyexecd-init"
#define DOCKER_STREAMS "/.pyexecd-streams" /* the socket of direct_streams.h */

/* In a container that is kept that is a directory, where the init of each run finds the socket. */
#define DOCKER_STREAMS_NAME "/socket"

/* Names of labels. A container without the first three is not ours. */
#define DOCKER_LABEL_STATE       "pyexecd.state"       /* the name of the state directory */
#define DOCKER_LABEL_SERVER      "pyexecd.server"      /* the name of the server that uses it */
#define DOCKER_LABEL_OWNER       "pyexecd.owner"       /* the uid of the server */
#define DOCKER_LABEL_DEADLINE    "pyexecd.deadline"    /* Unix time after which it may be removed */
#define DOCKER_LABEL_ENVIRONMENT "pyexecd.environment" /* the name of the environment */

#define DOCKER_LABEL_IMAGE "pyexecd.image" /* of an image: the state directory */
#define DOCKER_LABEL_STAYS "pyexecd.stays" /* it stays, to be looked at: a digest of its client */

enum docker_purpose {
    DOCKER_RUN,     /* one script */
    DOCKER_KEEP,    /* scripts, by exec */
    DOCKER_ASK,     /* a question to the Python of an image */
    DOCKER_INSTALL, /* packages, by exec; the container becomes an image */
};

/* Everything is borrowed. */
struct docker_container {
    enum docker_purpose purpose;
    const struct docker_definition *definition; /* of the environment */
    const struct environment_settings *settings;
    const char *image;
    const char *user;    /* "UID:GID" */
    const char *init;    /* pyexecd-init on this machine */
    const char *seccomp; /* the profile of system calls, as the engine takes it; NULL: its own */
    double seconds;      /* after which it ends by itself */
    double idle_seconds; /* for which it may wait for its script; 0: it has it */
    bool has_gate;       /* its Python may wait, too */
    const char *streams; /* where its init asks for its streams; NULL: it does not */
    bool needs_tools; /* its init does not begin without a socket by which the program calls them */
    bool is_session;  /* the program is the Python of a session, and its input comes from here */
    const char *const *program;   /* NULL-terminated; unused for a kept container */
    const char *const *variables; /* NULL-terminated NAME=VALUE, of this program; or NULL */
    const json_t *mounts;         /* docker_mount()s of files of this machine */
    const json_t *volumes;        /* paths that the image declares as volumes, or NULL */
    json_t *labels;
    bool stays;        /* stopped, to be looked at: what it prints is kept by the engine, too */
    bool remaps_users; /* the engine maps users to others */
    uint64_t most_processes; /* of the user, RLIMIT_NPROC; 0: as the engine has it */
};

/* The body of POST /containers/create. New reference. */
json_t *docker_container_describe(const struct docker_container *container);

/* The limits of the steps of a build, as parameters of POST /build, each behind an "&": memory and
 * processors of CONTAINER, an installation, and its network if the operator names one. POST /build
 * takes no limit of processes. Owned by the caller. */
char *docker_build_limits(const struct docker_container *container);

/* The body of POST /containers/ID/exec for a script in a container that is kept. New reference. */
json_t *docker_exec_describe(const struct docker_container *container);

/* A mount that shows SOURCE, of this machine, at TARGET in a container. New reference. */
json_t *docker_mount(const char *source, const char *target, bool writable);
