/* A container that is kept between the calls of one working directory, with all files that scripts
 * have written and packages they have installed.
 *
 *     STARTING -> BUSY <-> IDLE
 *         \        |
 *          `---> ENDING
 *
 * A call whose script cannot begin in it ends as `vanished`, and begins again in a new one, once.
 *
 * It ends when a call was killed, or has left a process behind or no last words: whatever a script
 * did to it, the next call gets a new one. It ends with the server, too: its pyexecd-init holds the
 * other end of a connection of ours. */
#pragma once

#include "base/list.h"
#include "environments/docker/kept_run.h"
#include "environments/docker/kept_size.h"
#include "environments/docker/python.h"
#include "environments/engine/container.h"
#include "environments/execution.h"

#include <stdbool.h>

struct docker_facts;
struct docker_site;
struct kept_call;

enum kept_container_state {
    KEPT_CONTAINER_STARTING, /* waiting for the engine, with a call that has not begun */
    KEPT_CONTAINER_BUSY,     /* waiting for the script of its call */
    KEPT_CONTAINER_IDLE,     /* waiting for a call */
    KEPT_CONTAINER_ENDING,   /* waiting for its own end and the end of the script, in any order */
    KEPT_CONTAINER_OVER,
};

struct kept_container {
    struct list link;         /* in the list of the owner */
    struct docker_site *site; /* borrowed */
    enum kept_container_state state;
    struct container container;
    struct container_end end; /* once it has ended */
    struct kept_size size;  /* of all files that its calls have written outside of the directory */
    struct kept_call *call; /* owned; NULL: nobody uses it */
    struct kept_wait wait;  /* for the next call, while the container is idle */
    json_t *next;           /* owned: the definition of the expected run, like wait.key; or NULL */
    bool waits;             /* a run may wait in it */
    bool is_deaf;           /* its inits refuse every go (enum kept_try) */
    char *name;             /* owned */
    char *directory;        /* owned: the working directory that it has */
    json_t *kept_files;     /* owned: which files its scripts only read there, or NULL */
    int script;             /* owned: the file over script.py in it */
    char *streams;          /* owned: the directory where runs find their streams; or NULL */
    double started_at;      /* monotonic seconds */
    double used_at;         /* monotonic seconds: when it became idle */
};

/* A container for the directory and the code of REQUEST, in no list yet. It makes the private file
 * of REQUEST, for READER (script_file.h), keeps it for the code of every call, and frees itself
 * when it is over. NULL with ERR. */
struct kept_container *kept_container_new(struct docker_site *site,
                                          const struct execution_request *request,
                                          const uid_t *reader, struct error *err);

/* Removes the container, in the background. Nothing may be executed in it. */
void kept_container_free(struct kept_container *container);

/* Begins to start the container; kept_container_execute must follow. */
void kept_container_start(struct kept_container *container, const struct docker_facts *image,
                          const json_t *mounts);

/* See environment_start. CONTAINER is idle, or has just begun to start; then it is freed with ERR.
 */
struct execution *kept_container_execute(struct kept_container *container,
                                         const struct docker_python_facts *python,
                                         const struct execution_request *request,
                                         struct execution_listener *listener, struct error *err);

/* No run uses the environment: if CONTAINER is idle, a run like its last one begins to wait in it.
 */
void kept_container_rest(struct kept_container *container);

/* CONTAINER has DIRECTORY, and will not end with its present call. */
bool kept_container_is_for(const struct kept_container *container, const char *directory);

bool kept_container_is_idle(const struct kept_container *container);

/* The life of CONTAINER is longer than a call of TIMEOUT seconds that begins now. */
bool kept_container_lasts(const struct kept_container *container, double timeout);
