/* What held a process tree and enforced its limits: of the tree that ran, not of the machine. The
 * end of every tree and of every container carries one, and every result says it. */
#pragma once

#include "environments/process/policy.h"

#include <jansson.h>
#include <stdbool.h>

/* Who enforces the limits of memory and processes. */
enum process_limiter {
    LIMITER_RLIMITS, /* the kernel, for each process */
    LIMITER_CGROUP_V1,
    LIMITER_CGROUP_V2,
    LIMITER_CONTAINER,
};

struct process_receipt {
    unsigned layers; /* those of enum process_layer that the tree had */
    unsigned asked;  /* those of a sandbox that it was to have */
    enum process_limiter limiter;
    const json_t *missing; /* borrowed from whose receipt it is: what could not be had, and why, one
                              string for each; NULL: nothing */
    const json_t *devices; /* likewise: the files of devices that it was to use, where a sandbox has
                              some opened; NULL: none has */
};

/* The layers that the tree was to have and had not. */
unsigned process_receipt_absent(const struct process_receipt *receipt);

/* Adds WHAT to MISSING, a list of such texts. False when it is there already. */
bool process_receipt_add_missing(json_t *missing, const char *what);

/* The level of isolation: "none", "sandbox", "docker". Static storage, as all of these. */
const char *process_receipt_isolation(const struct process_receipt *receipt);

/* The strongest layer: "pid namespace", "cgroup", "landlock", "container", else "best effort". */
const char *process_receipt_tree(const struct process_receipt *receipt);

/* "rlimits", "cgroup v1", "cgroup v2", "container". */
const char *process_limiter_name(enum process_limiter limiter);

/* {process_tree, limits, missing}, and devices where some are opened. New reference. */
json_t *process_receipt_containment(const struct process_receipt *receipt);
