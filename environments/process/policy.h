/* What is to hold a process tree, chosen before it starts. What really held it is in its receipt
 * (receipt.h). The runner, a program of its own, builds the layers and shares these words. */
#pragma once

/* What keeps a tree together until it has ended; an `unsigned` is a set of them. Without any, a
 * subreaper kills what it finds, and survivors are possible. */
enum process_layer {
    LAYER_PID_NAMESPACE = 1 << 0, /* the tree cannot outlive its init, and sees nobody else */
    LAYER_CGROUP_KILL = 1 << 1,   /* the kernel kills all that is in the tree's cgroup */
    LAYER_LANDLOCK = 1 << 2,      /* signals cannot leave the tree */
    LAYER_CONTAINER = 1 << 3,     /* a container engine holds the tree */

    LAYERS_OF_TREES = LAYER_PID_NAMESPACE | LAYER_CGROUP_KILL | LAYER_LANDLOCK, /* the runner's */
};

struct process_policy {
    unsigned wanted;   /* layers: each one is used that the machine has */
    unsigned required; /* layers, of which a tree must have one; 0: it need not */
};
