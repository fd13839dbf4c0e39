/* The messages between server and runner over the control channel, a stream socket.
 *
 * The channel is the lifeline too: the server holds the only other end. At end-of-file the
 * server is gone or wants the tree gone, and the runner kills everything (rule L13). A message
 * is a frame (base/wire.h). Both ends are on one machine, so structs are sent as they are. */
#pragma once

#include "base/wire.h"
#include "environments/process/process_limits.h"

#include <stdint.h>

enum {
    CONTROL_FD = 3,                  /* in the runner */
    CONTROL_LIMIT_BYTES = 96 * 1024, /* of one message; less than an empty socket takes at once */
    CONTROL_DESCRIPTORS = 5,         /* that travel beside a message, at most */
    CONTROL_STACKS_BYTES = 32 * 1024,
    CONTROL_TEXT_BYTES = 512,    /* of a text of the runner, at most */
    CONTROL_CPU_PERIOD = 100000, /* microseconds, as cgroups count */
};

/* Descriptors that a zygote is started with, and limits. */
enum {
    ZYGOTE_ORDERS_FD = 102,   /* a socket (SOCK_SEQPACKET). An order is a byte, and beside it the
                               * descriptors of a new worker; or the name of a module to import */
    ZYGOTE_CORE_FD = 103,     /* the library that it loads (core/core.c) */
    ZYGOTE_JOB_FD = 104,      /* a file: struct zygote_job, then its CONTROL_RUN */
    ZYGOTE_RESERVE_FD = 105,  /* a directory: mounts for its workers only (reserve.c) */
    ZYGOTE_PRINTS_FD = 106,   /* a pipe: its standard output and error */
    ZYGOTE_STAND_IN_FD = 107, /* only in its stand-in (core/stand_in.h): a socket to the zygote */
    ZYGOTE_DESCRIPTORS = 16,  /* of a worker, at most */
    ZYGOTE_TEXT_BYTES = 256,  /* of a module's name, or of an answer, with the NUL */
};

/* The first byte of each answer of a zygote, which answers when it waits, and then each name. */
enum zygote_answer {
    ZYGOTE_WAITS = 'w', /* the stand-in answers so, too, when it has become the zygote */
    ZYGOTE_LOADED = 'l',
    ZYGOTE_NOT_LOADED = 'n', /* the reason follows */
    ZYGOTE_SPOILT = 's', /* the reason follows; it ends. Without a name: there can be no zygote */
};

struct zygote_job {
    uint32_t layers; /* of enum process_layer */
};

/* The first descriptors of a worker. They are followed by cgroup.procs of each cgroup that it is to
 * enter. */
enum zygote_order {
    ZYGOTE_ORDER_CONTROL,
    ZYGOTE_ORDER_OUTPUT,
    ZYGOTE_ORDER_ERRORS,
    ZYGOTE_ORDER_CGROUPS
};

/* The first byte of a path of a sandbox. */
enum control_access { CONTROL_READ = 'r', CONTROL_WRITE = 'w', CONTROL_DEVICE = 'd' };

enum control_type {
    CONTROL_RUN = 1, /* to the runner: struct control_run, then NUL-terminated strings */
    CONTROL_CODE,    /* to it, when its program waits: beside it the descriptor of the code, if that
                        is laid over the script, and of the standard input, if there is one */
    CONTROL_TOOLS,   /* to it, before the code: the descriptor beside it is a socket by which the
                        script calls tools */
    CONTROL_COPY,    /* to it: the program is about to make a copy of itself, with the descriptors
                      * of enum control_copy beside it */
    CONTROL_INTERRUPT, /* to it: SIGINT for the program, if it is still there */
    CONTROL_STACKS, /* to it: asks for the stacks of all threads of a Python. From it, if they can
                     * be had: a text, CONTROL_STACKS_BYTES at most, as python_stacks.h has it */
    CONTROL_SUPERVISOR, /* from it: struct control_supervisor. No descriptor travels to the server:
                         * how many may be on their way is a quota that scripts share */
    CONTROL_READY,      /* prepared; the text says what is missing, or is empty */
    CONTROL_REFUSED,    /* cannot be prepared: struct control_refused, then a text */
    CONTROL_FAILED,     /* the program could not be started; the text says why */
    CONTROL_WAITING,    /* the program has started ahead of its code, and waits for the code: struct
                         * control_waiting */
    CONTROL_STARTED,    /* the program runs: struct control_started */
    CONTROL_LEFT,       /* before that, if it has left files in its own /tmp: how many (uint32_t),
                         * then NUL-terminated names of some */
    CONTROL_ENDED,      /* the program has ended: struct control_ended */
    CONTROL_TYPES,
};

extern const struct wire_protocol control_protocol;

/* Followed by the arguments, the variables, the paths of a sandbox ("r/..." to be read, "w/..." to
 * be written as well, "d/..." a device to be used), the directory and, with a script, the path
 * where its code is to appear. The code is in a file whose descriptor travels beside the message;
 * then come the descriptor of the program's input, the socket to the tools, and the socket to a
 * proxy. A program that is started ahead of its code (base/starter/starter.h) gets code and input
 * by CONTROL_CODE, and the socket to the tools by CONTROL_TOOLS. */
struct control_run {
    uint32_t argument_count;
    uint32_t variable_count;
    uint32_t path_count;
    uint32_t has_script;
    uint32_t has_input;   /* a descriptor beside the message is the program's standard input */
    uint32_t has_outlet;  /* a socket travels beside the message, to the proxy of this network */
    uint32_t has_starter; /* the program is the Python of a script */
    uint32_t is_ahead;    /* the Python has a script whose code comes later */
    uint32_t is_zygote;   /* the Python is a zygote: the two descriptors beside the message are its
                             orders and its core */
    uint32_t has_tools;   /* a socket travels beside the message, by which the script calls tools */
    uint32_t most_processes; /* that programs read as the limit of the tree; 0: there is none */
    uint32_t cpu_quota;      /* likewise: microseconds of CONTROL_CPU_PERIOD */
    uint64_t shared_bytes;   /* of a private /dev/shm; and likewise the memory of the tree */
    struct process_limits limits; /* 0: a cgroup limits it, or nothing does. The size of a file
                                   * limits all deleted files that are open, too */
};

/* The needs of a tree that a machine may not meet. */
enum control_need {
    NEED_NAMESPACES, /* user, mount, PID and IPC */
    NEED_CGROUPS,    /* that can be entered */
    NEED_ROOT,       /* LAYER_ROOT */
    NEED_NETWORK,    /* LAYER_NETWORK */
    NEED_UID,        /* LAYER_UID: known only when the program's paths are */
    NEED_FILES,      /* LAYER_FILES: known only when the program's paths are */
    NEED_ALWAYS,     /* a need of every tree: no layer is left out for it */
    NEEDS,
};

struct control_refused {
    uint32_t need;  /* of enum control_need */
    int32_t number; /* errno */
};

struct control_supervisor {
    int32_t pid;    /* as the server sees it; 0: the sender of the message */
    int32_t zygote; /* as the server sees it, in a nursery; else 0 */
};

struct control_waiting {
    uint32_t keepers; /* processes of ours beside supervisor and program: 0 or 1 (core/keeper.h) */
};

struct control_started {
    double time; /* CLOCK_MONOTONIC seconds */
};

/* The descriptors beside a CONTROL_COPY. They are followed by cgroup.procs of each cgroup that the
 * copy is to enter. */
enum control_copy {
    CONTROL_COPY_CHANNEL, /* the control channel and lifeline of the copy */
    CONTROL_COPY_GATE,    /* a socket (SOCK_SEQPACKET, SO_PASSCRED) to the program and its copy */
    CONTROL_COPY_CGROUPS,
};

/* The first byte of a message over the gate. A copy is answered by one byte, and goes on. */
enum control_copied {
    CONTROL_COPIED = 'c',     /* from the copy, when its parent is the supervisor */
    CONTROL_NOT_COPIED = 'n', /* a text follows with the reason */
};

enum { CONTROL_WHY_BYTES = 256 }; /* with CONTROL_NOT_COPIED */

enum control_exceeded {
    CONTROL_EXCEEDED_DISK = 1, /* by deleted files that were open */
    CONTROL_EXCEEDED_MEMORY,
};

struct control_ended {
    double time;
    double cpu_seconds;
    uint64_t peak_bytes;
    int32_t status;    /* as wait(2) has it */
    uint32_t exceeded; /* of enum control_exceeded: why the supervisor ended the tree; or 0 */
    uint32_t
        is_empty; /* nothing is left of the tree but its supervisor, pid 1, which ends as well */
    uint32_t leftovers; /* processes that had to be killed when the program had ended, without
                           helpers (base/python_helpers.h) */
};
