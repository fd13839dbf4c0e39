/* The runner: a small program without secrets that builds the containment of one process tree and
 * stays as its supervisor.
 *
 *     server --clone, exec--> runner --prepares, clone(PARENT)--> supervisor --fork--> program
 *
 * The runner enters cgroups and namespaces and ends; the supervisor, by then a child of the server
 * and, where the kernel gives a PID namespace, its pid 1, waits for one CONTROL_RUN. It runs the
 * program as pid 2, kills the remaining processes when that ends, reports, and ends itself. Every
 * failure becomes a text for the server; nothing goes to stderr, which is the program's. */
#pragma once

#include "environments/process/policy.h"

#include <stdbool.h>

struct runner_preparation {
    unsigned layers;   /* of enum process_layer */
    char **cgroups;    /* NULL-terminated directories to enter; borrowed from argv */
    bool has_mounts;   /* a mount namespace of its own, and an IPC namespace */
    char missing[256]; /* parts that could not be had, beside the layers; or "" */
    int script_file;   /* with a PID namespace: a file in memory for the program's script */
    int script_mount;  /* with a PID namespace: its mount, which has no place yet */
    int starter;       /* starter_open() */
    int rules;         /* with LAYER_FILES: files_prepare() */
    int cover;         /* with LAYER_ROOT: an empty directory, to hide the machine's root under */
    unsigned uid;      /* with LAYER_UID: the tree's own, of users and of groups */
    int user;          /* with LAYER_UID: the user namespace in which `uid` is 0 */
    int owners;        /* with LAYER_UID: a user namespace that maps root's files to it */
};
