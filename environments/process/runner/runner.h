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

#include "base/clock.h"
#include "environments/process/control.h"
#include "environments/process/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Enters cgroups and namespaces; does not return when a layer cannot be had. */
void prepare_tree(struct runner_preparation *preparation);

/* In the supervisor: mounts its own /proc, and puts the kernel's files and calls out of reach. */
void prepare_supervisor(struct runner_preparation *preparation);

/* One program to run; points into the message it was read from. */
struct program {
    struct control_run run;
    char **arguments;
    char **variables;
    char **paths; /* of the sandbox: enum control_access, then the path */
    const char *directory;
    const char *script; /* where the code is to appear; NULL: nowhere */
    int code;           /* a file that holds the code; or -1 */
    int input;          /* its standard input; or -1: /dev/null */
    int outlet;         /* the socket to the proxy of this network; or -1 */
    int gate;           /* the program's end of its gate; or -1 */
    int orders;         /* of a zygote */
    int core;           /* of a zygote: its library */
    char *payload;      /* LENGTH bytes of its CONTROL_RUN */
    size_t length;
};

/* Splits the payload of a CONTROL_RUN. False when it is malformed, or a descriptor that it needs is
 * -1 in DESCRIPTORS. */
bool program_parse(struct program *program, char *payload, size_t length,
                   const int descriptors[CONTROL_DESCRIPTORS]);

/* Receives the header of the next message over the control channel FD. DESCRIPTORS came with it, or
 * are -1. False at the end of the lifeline. */
bool message_receive_header(int fd, struct control_header *header,
                            int descriptors[CONTROL_DESCRIPTORS]);

/* Receives the LENGTH bytes that follow on the header of a CONTROL_RUN. Does not return when they
 * are malformed. */
void program_receive(struct program *program, size_t length,
                     const int descriptors[CONTROL_DESCRIPTORS]);

/* In the process that becomes a program, from here on. The first two write the reason of a failure
 * into the pipe FD, which closes on exec. */
_Noreturn void confine_fail(int fd, const char *text, const char *subject);
void confine_need(int fd, int result, const char *text, const char *subject);

/* Forks a child that becomes PROGRAM by BECOME, which does not return; FD is the pipe for the
 * reason of a failure. -1 with errno set; else *RET_FD is the other end. */
typedef void confine_become(const struct program *program,
                            const struct runner_preparation *preparation, int fd);
pid_t confine_fork(const struct program *program, const struct runner_preparation *preparation,
                   confine_become *become, int *ret_fd);

/* Limits the resources of this process, and the number of its processes, and sets its niceness. */
void confine_limits(int fd, const struct process_limits *limits, unsigned layers);

/* The same for a zygote, without what each of its workers has for itself: their processes would be
 * counted together. */
void confine_zygote_limits(int fd, const struct process_limits *limits);

/* Drops all capabilities except the set KEPT, a mask of the first 32. */
void confine_capabilities(int fd, uint32_t kept);

/* In the supervisor, within a mount namespace: makes the file for the program's script. */
void script_prepare(struct runner_preparation *preparation);

/* In the program's process: makes the code of PROGRAM, or nothing yet, appear as its script, for
 * this tree alone. -1 with errno set. */
int script_lay_over(const struct runner_preparation *preparation, const struct program *program);

/* In the supervisor: fills the script of PROGRAM, which was laid over without code, with CODE. -1
 * with errno set; ESTALE: the script is at its place no more. */
int script_complete(const struct runner_preparation *preparation, const struct program *program,
                    int code);

/* In a user namespace of its own: maps the ids of its user onto themselves. No other mapping is
 * allowed without privilege. -1 with errno set. */
int identity_map_own(uid_t uid, gid_t gid);

/* Closes the open descriptors from FIRST to LAST. */
void descriptors_close(int first, int last);

/* Writes TEXT to a file of the kernel's. -1 with errno set. */
int kernel_file_write(const char *path, const char *text);

/* With LAYER_UID, in the runner: finds a uid for the tree, and lets it use its streams. */
void identity_prepare(struct runner_preparation *preparation);

/* With LAYER_UID: from now on files that this process makes belong to the program or, if not
 * AS_PROGRAM, to root, which may go everywhere. */
void identity_make_files(const struct runner_preparation *preparation, bool as_program);

/* With LAYER_UID: this process joins the groups that own the devices of PROGRAM. -1 with errno set.
 */
int identity_join(const struct runner_preparation *preparation, const struct program *program);

/* With LAYER_UID: this process has the tree's uid from now on, and no right over the machine. -1
 * with errno set. */
int identity_take(const struct runner_preparation *preparation);

/* The network of this namespace gets its loopback. -1 with errno set. */
int network_prepare(void);

/* The proxy at the other end of OUTLET gets a listener in the network of this namespace. -1 with
 * errno set. */
int network_let_out(int outlet);

/* In the supervisor, within namespaces: makes the root of a sandbox and enters it. The machine's
 * is still there, at a place that only we know. -1 with errno set. */
int root_prepare(struct runner_preparation *preparation);

/* RET of a call that makes a file in a root, but 0 if the file exists or its place, a mount, is
 * read-only. */
int root_made(int ret);

/* Makes the directories that PATH is in; and something at PATH for a mount to lie on. -1 with errno
 * set. */
int root_make_way(const char *path);
int root_make_place(const char *path, bool is_directory);

/* PATH, but without the link that is a root's own (root_table.c). */
const char *root_find_way(const char *path);

/* The mount TREE, a descriptor, is at PATH, to which no link leads, and where something is. -1 with
 * errno set. */
int root_attach(int tree, const char *path);

/* The same, and makes the place that TREE lies on. */
int root_put(int tree, const char *path);

/* Puts PATHS into the order in which they are shown, so that none hides another. */
void root_sort(char **paths);

/* The reserve: places that scripts can write in are kept there for the workers of a zygote, which
 * itself sees empty ones instead (reserve.c). The function says whether PATH is in a writable place
 * of PATHS. */
bool reserve_holds(char *const *paths, const char *path);

/* In the process of a zygote. The first makes its reserve at PLACE, and the current directory. The
 * second puts TREE there, the mount of the path NUMBER of PROGRAM, and makes an empty stand-in. The
 * third shows the stand-in at the path, unless an outer path has shown it. -1 with errno set. */
int reserve_open(const char *place);
int reserve_keep(size_t number, int tree, const struct program *program);
int reserve_stand_in(size_t number, const struct program *program);

/* In the supervisor of a worker, whose current directory is the reserve: a copy of the mount
 * NUMBER, without a place. -1 with errno set. */
int reserve_take(size_t number);

/* In the supervisor of a worker of PROGRAM, within namespaces of its own and in its reserve: makes
 * its own root from its zygote's. Does not return at a failure. */
void root_renew(const struct program *program);

/* In the program's process: shows the paths of PROGRAM at their places and hides the machine's
 * root; a zygote's current directory is its reserve afterwards. -1 with errno set; *RET_SUBJECT
 * (borrowed) is the path that failed. */
int root_show(const struct runner_preparation *preparation, const struct program *program,
              const char **ret_subject);

/* In the supervisor, in the root of its programs: makes the rules for files that all programs have.
 * Returns a descriptor. -1 with errno set. */
int files_prepare(const struct runner_preparation *preparation);

/* In the program's process: from now on it can use the files that its sandbox shows, and no others.
 * -1 with errno set. */
int files_restrict(const struct runner_preparation *preparation, const struct program *program);

/* A way to start a program. */
struct program_start {
    /* Makes a child that becomes PROGRAM: -1 with errno when there is none. *RET_FD reports the
     * start: end-of-file when the program runs, else a text. */
    pid_t (*start)(const struct program *program, const struct runner_preparation *preparation,
                   int *ret_fd);

    /* Writes the Python stacks of PROGRAM, CONTROL_STACKS_BYTES at most, to TEXT, and returns the
     * number of bytes; 0: it has no stacks now. NULL: it never has stacks. */
    size_t (*stacks)(pid_t program, char *text);

    /* Called once, when the tree is empty but for its supervisor and its end has been reported.
     * NULL: there is nothing to do then. */
    void (*end)(void);
};

/* Forks, and executes the program's file. */
extern const struct program_start cold_start;

/* Runs PROGRAM by START. If PROGRAM is NULL, waits for one CONTROL_RUN and runs its program.
 * Reports. */
_Noreturn void supervise(const struct runner_preparation *preparation,
                         const struct program_start *start, const struct program *program);

/* In the runner, within the namespaces of a nursery: makes its pid 1 and its zygote, and ends. */
_Noreturn void nursery_found(struct runner_preparation *preparation);

/* In the process that becomes PROGRAM: shows its paths and lays an empty script over its own, or
 * CODE. */
void cold_start_show(int fd, const struct program *program,
                     const struct runner_preparation *preparation);

/* Forks a child of the server, which waits for it. */
pid_t fork_sibling(void);

/* Sends a message to the server; the second one over the control channel FD of a copy. */
void runner_report(enum control_type type, const void *payload, size_t length);
void runner_report_to(int fd, enum control_type type, const void *payload, size_t length);
void report_text(enum control_type type, const char *text);

/* TIME in seconds. */
double runner_seconds(struct timeval time);

/* Reports that NEED cannot be had, with "TEXT: strerror(errno)", and ends. */
_Noreturn void runner_refuse(enum control_need need, const char *text);

/* Reports the same, without ending. */
void report_refusal(enum control_need need, const char *text);

/* Calls runner_refuse when RESULT, of a system call, is negative. */
void runner_need(enum control_need need, int result, const char *text);

/* In a mount namespace of our own: mounts spread to no other namespace from now on, and /dev/shm is
 * private, unless a root will have its own. -1 with errno set, as for the functions below. */
int mounts_make_private(bool has_root);

/* Whether the kernel, and a filter or a container that limits it, let us seal mounts. */
bool mounts_can_seal(void);

/* Makes all file systems that are interfaces of the kernel read-only, such as /proc and /sys. */
int mounts_seal_kernel(void);

/* Sets how much the private /dev/shm holds. The working DIRECTORY of the program is shown in it, if
 * it lies in the machine's. */
int mounts_set_shared_memory(uint64_t bytes, const char *directory);

/* Embedded in a structure with the data of a visit. */
struct descendants_visitor {
    void (*visit)(const struct descendants_visitor *visitor, pid_t pid, pid_t parent);
};

/* Visits the children of PARENT, or all below it, as far as they can be found. */
void descendants_visit_children(pid_t parent, const struct descendants_visitor *visitor);
void descendants_visit_all(pid_t parent, const struct descendants_visitor *visitor);

/* Sends signal NUMBER to every descendant of this process that can be found. */
void signal_descendants(int number);
