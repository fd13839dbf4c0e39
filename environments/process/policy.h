/* What is to hold a process tree, chosen before it starts. What really held it is in its receipt
 * (receipt.h). The runner, a program of its own, builds the layers and shares these words. */
#pragma once

#include <stdbool.h>

/* What keeps a tree together until it has ended; an `unsigned` is a set of them. Without any, a
 * subreaper kills what it finds, and survivors are possible. */
enum process_layer {
    LAYER_PID_NAMESPACE = 1 << 0, /* the tree cannot outlive its init, and sees nobody else */
    LAYER_CGROUP_KILL = 1 << 1,   /* the kernel kills all that is in the tree's cgroup */
    LAYER_LANDLOCK = 1 << 2,      /* signals cannot leave the tree */
    LAYER_CONTAINER = 1 << 3,     /* a container engine holds the tree */

    /* What keeps it from the machine. */
    LAYER_ROOT = 1 << 4,    /* a root of its own: what the policy does not name does not exist */
    LAYER_NETWORK = 1 << 5, /* a network of its own, with nobody else on it */
    LAYER_FILES = 1 << 6,   /* Landlock: only what the policy names can be read, or written */
    LAYER_CALLS = 1 << 7,   /* only the listed system calls */
    LAYER_OFFLINE = 1 << 8, /* with them: no socket of a network, where it cannot have its own */

    LAYER_UID = 1 << 9, /* a uid of its own, where a server that is root has an own root */

    LAYER_NURSERY = 1 << 10, /* no layer: it is to hold a zygote, whose workers have the layers */

    LAYERS_OF_TREES = LAYER_PID_NAMESPACE | LAYER_CGROUP_KILL | LAYER_LANDLOCK, /* the runner's */
    LAYERS_OF_FILES = LAYER_ROOT | LAYER_FILES, /* a sandbox has one of them */
    LAYERS_OF_SANDBOX = LAYER_ROOT | LAYER_NETWORK | LAYER_FILES | LAYER_CALLS, /* likewise */
};

/* What a sandboxed process may read, write and reach, beside what every one has: programs and
 * libraries of the system, a small /dev, and a /proc, /tmp and /dev/shm of its own. Everything is
 * borrowed. */
struct process_sandbox {
    const char *const *read;    /* NULL-terminated absolute paths: seen there, and not changed */
    const char *const *write;   /* likewise: to be changed as well */
    const char *const *devices; /* files of devices, which it may use; or NULL: none. Of what is in
                                   /sys, `read` has only what belongs to them */
    bool network;               /* it has the machine's network */
    int outlet; /* not 0: a stream socket (Unix) over which a listener goes to the one at its other
                   end, a proxy: port SANDBOX_PROXY_PORT of the loopback of the network of its own,
                   without which the process is refused */
    bool required; /* without one of the layers it is refused */
};

enum { SANDBOX_PROXY_PORT = 3128 };

struct process_policy {
    unsigned wanted;   /* layers: each one is used that the machine has and the process asks for */
    unsigned required; /* layers, of which a tree must have one; 0: it need not */
};
