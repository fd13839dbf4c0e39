/* The layers that are to hold a process tree, chosen before it starts. Its receipt (receipt.h) has
 * the layers that really held it. The runner, a program of its own, builds them and shares these
 * words. */
#pragma once

#include <stdbool.h>

/* Layers that keep a tree together until it has ended; an `unsigned` is a set of them. Without any,
 * a subreaper kills the processes that it finds, and some may survive. */
enum process_layer {
    LAYER_PID_NAMESPACE = 1 << 0, /* the tree cannot outlive its init, and sees nobody else */
    LAYER_CGROUP_KILL = 1 << 1,   /* the kernel kills all processes in the tree's cgroup */
    LAYER_LANDLOCK = 1 << 2,      /* signals cannot leave the tree */
    LAYER_CONTAINER = 1 << 3,     /* a container engine holds the tree */

    /* Layers that keep it from the machine. */
    LAYER_ROOT = 1 << 4,    /* a root of its own: other paths of the machine do not exist */
    LAYER_NETWORK = 1 << 5, /* a network of its own, with nobody else on it */
    LAYER_FILES = 1 << 6,   /* Landlock: other paths of the machine cannot be used */
    LAYER_CALLS = 1 << 7,   /* only the listed system calls */
    LAYER_OFFLINE = 1 << 8, /* with LAYER_CALLS: no network sockets, if it has no own network */

    LAYER_UID = 1 << 9, /* a uid of its own, where a server that is root has an own root */

    LAYER_NURSERY = 1 << 10, /* no layer: the tree of a zygote, whose workers have the layers */

    LAYERS_OF_TREES = LAYER_PID_NAMESPACE | LAYER_CGROUP_KILL | LAYER_LANDLOCK, /* the runner's */
    LAYERS_OF_FILES = LAYER_ROOT | LAYER_FILES, /* a sandbox has at least one */
    LAYERS_OF_SANDBOX = LAYER_ROOT | LAYER_NETWORK | LAYER_FILES | LAYER_CALLS, /* all of them */
};

/* Paths and networks that a sandboxed process may use. Every such process also has the programs and
 * libraries of the system, a small /dev, and a /proc, /tmp and /dev/shm of its own. Everything is
 * borrowed. */
struct process_sandbox {
    const char *const *read;    /* NULL-terminated absolute paths, which are read-only */
    const char *const *write;   /* NULL-terminated absolute paths, which are writable */
    const char *const *devices; /* files of devices, which it may use; or NULL: none. Paths of /sys
                                   in `read` belong to these devices */
    bool network;               /* it has the machine's network */
    int outlet;    /* not 0: a stream socket (Unix) to a proxy, which gets a listener over it: port
                      SANDBOX_PROXY_PORT of the loopback of the process's own network. Without that
                      network the process is refused */
    bool required; /* the process is refused if a layer is absent */
    bool keeps;    /* paths of `read` lie in paths of `write`. File rules cannot hold them there, so
                      the process is refused without a root of its own */
};

enum { SANDBOX_PROXY_PORT = 3128 };

struct process_policy {
    unsigned wanted;   /* layers: each is used if the machine has it and the process asks for it */
    unsigned required; /* layers, of which a tree must have at least one; 0: it need not */
};
