/* The Python of an image: its name, python3 or python, its version, and its uid and gid. It is run
 * once to learn them, for each image and user; the answer is kept in the state directory. */
#pragma once

#include "base/buffer.h"
#include "base/outcome.h"
#include "environments/docker/output.h"
#include "environments/engine/container.h"
#include "environments/execution.h"

#include <stdbool.h>
#include <sys/types.h>

struct docker_facts;
struct docker_site;

struct docker_python_facts {
    char *program; /* owned: "python3"; NULL: not known */
    char *version; /* owned: "3.11.2" */
    uid_t uid;     /* of the operator's `user`; else without meaning */
    gid_t gid;
};

void docker_python_facts_deinit(struct docker_python_facts *facts);

struct docker_python {
    void (*done)(struct docker_python *python, const struct error *err);
    struct docker_python_facts facts; /* once `done`, or READY */

    /* Private. */
    struct docker_site *site;         /* borrowed */
    const struct docker_facts *image; /* borrowed */
    char *path;                       /* owned: of the file with the answer */
    size_t candidate;
    struct container container;
    struct docker_output output;
    struct execution_listener listener; /* to it */
    struct buffer answer;
    struct buffer complaint;
};

/* Asks IMAGE, which must stay as it is. READY when the answer is known. */
enum outcome docker_python_start(struct docker_python *python, struct docker_site *site,
                                 const struct docker_facts *image);
void docker_python_cancel(struct docker_python *python);
void docker_python_deinit(struct docker_python *python);
