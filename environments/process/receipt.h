/* A receipt: the layers that held a process tree and the limits that were enforced, for the tree
 * that ran, not for the machine. The end of every tree and container has a receipt, and every
 * result shows it. */
#pragma once

#include "environments/process/isolation.h"
#include "environments/process/policy.h"

#include <jansson.h>
#include <stdbool.h>

/* The means by which memory and processes are limited. */
enum process_limiter {
    LIMITER_RLIMITS, /* resource limits of each process */
    LIMITER_CGROUP_V1,
    LIMITER_CGROUP_V2,
    LIMITER_CONTAINER,
};

/* The beginnings of the texts about limits that hold without a cgroup, too. */
#define MISSING_MEMORY_CGROUP  "memory limit: "
#define MISSING_PROCESS_CGROUP "process limit by cgroup: "

struct process_receipt {
    unsigned layers; /* of enum process_layer: the layers that the tree had */
    unsigned asked;  /* of enum process_layer: the layers of a sandbox that it asked for */
    enum process_limiter limiter;
    const json_t *missing; /* borrowed from the owner of the receipt: a string for each missing
                              feature, with the reason; NULL: none is missing */
    const json_t *devices; /* borrowed from the owner of the receipt: the files of devices that it
                              could use, if sandboxes have any; NULL: none */
    const json_t *node;    /* borrowed likewise: a string, the other machine that it ran on; NULL:
                              this one */
};

/* The layers that the tree asked for and did not have. */
unsigned process_receipt_absent(const struct process_receipt *receipt);

/* Adds WHAT to MISSING, a list of such texts. False when it is there already. */
bool process_receipt_add_missing(json_t *missing, const char *what);

/* True when WHAT, a text of a missing feature, is about a cgroup whose limit holds by other means:
 * each user without a cgroup of his own has such texts. */
bool process_receipt_is_replaced(const char *what);

enum isolation process_receipt_isolation(const struct process_receipt *receipt);

/* The strongest layer: "pid namespace", "cgroup", "landlock", "container", else "best effort".
 * Static storage. */
const char *process_receipt_tree(const struct process_receipt *receipt);

/* "rlimits", "cgroup v1", "cgroup v2", "container". Static storage. */
const char *process_limiter_name(enum process_limiter limiter);

/* {process_tree, limits, missing}; devices where some are opened, and the node if it ran on one.
 * New reference. */
json_t *process_receipt_containment(const struct process_receipt *receipt);

/* "own network" for LAYER_NETWORK; "" if it is no layer of a sandbox or container. Static storage.
 * The text of a missing layer begins with its name and ": ". */
const char *process_layer_name(enum process_layer layer);

/* The names of the layers in LAYERS. New reference. */
json_t *process_layer_names(unsigned layers);

/* {NAME: "enforced", "absent" or "not asked for"}; of a container {"container": "enforced"}. New
 * reference. */
json_t *process_receipt_layers(const struct process_receipt *receipt);
