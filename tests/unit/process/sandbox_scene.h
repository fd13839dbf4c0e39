/* A sandbox with something to read, to write and to hide, for tests of what a script can do in it.
 */
#pragma once

#include "environments/process/process.h"

#include <stddef.h>

enum { KEPT_BYTES = 4096 };

/* A folder of the test's own:
 *
 *     FOLDER/work     can be written
 *     FOLDER/shown    can be read
 *     FOLDER/hidden   is not named
 *     FOLDER/link     leads to hidden */
struct scene {
    char folder[64];
    struct ev_loop *loop;
    struct process_host *host;
    struct process process;
    struct process_receipt receipt; /* without `missing` */
    size_t missing;
    char failure[ERROR_FULL_BYTES];
    char output[KEPT_BYTES + 1];
    size_t length;
};

/* On a machine that gives LAYERS. */
struct scene *scene_new(unsigned layers);
void scene_free(struct scene *scene);

/* NAME in its folder: a file with a secret, or a directory. */
void scene_make(const struct scene *scene, const char *name, bool is_file);

/* Runs CODE in work, in a sandbox with PATHS of SANDBOX; -1 when it is refused. */
int scene_run(struct scene *scene, const struct process_sandbox *sandbox, const char *code,
              struct error *err);

/* The usual sandbox: work can be written, shown can be read. */
void scene_run_usual(struct scene *scene, bool network, const char *code);
