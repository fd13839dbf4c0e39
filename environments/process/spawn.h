/* Starts the runner executable: descriptors, a clone without a copy of the page tables, an exec. */
#pragma once

#include "base/error.h"
#include "base/list.h"

#include <stdbool.h>
#include <sys/types.h>

/* A started runner's ends, all close-on-exec; control, output and errors do not block. */
struct spawned {
    pid_t pid;
    int pidfd;
    int control;
    int streams[2]; /* its standard output and standard error */
};

/* The other ends, also close-on-exec. */
struct spawn_ends {
    int control;
    int streams[2];
};

/* Makes the ends of a program that is to be started in another way; there is no `pid` and no
 * `pidfd`. */
int spawn_make_ends(struct spawned *ret, struct spawn_ends *ret_theirs, struct error *err);

/* The user whose program prints to OUTPUT: the runner has given it to him. */
uid_t spawn_user_of(int output);

/* The output of SPAWNED belongs to USER, who may open it again by /dev/stdout. A server without
 * rights has no other user than its own. */
void spawn_give_output(const struct spawned *spawned, uid_t user);

/* A pidfd of our child PID. Nobody else waits for it, so no other process can have the pid. -1 when
 * there is no such child. */
int spawn_open_child(pid_t pid);

/* Lets a child of ours stay a zombie for a while, so that its process group is nobody
 * else's. */
struct spawn_hold {
    struct list link;
    pid_t pid;
};

void spawn_hold(struct spawn_hold *hold, pid_t pid);
void spawn_let_go(struct spawn_hold *hold);
bool spawn_is_held(pid_t pid);

/* Closes all ends, or THEIRS. */
void spawn_close(struct spawned *spawned, struct spawn_ends *ends);
void spawn_close_theirs(struct spawn_ends *ends);

/* Opens the executable at PATH, for spawn_runner; -1 with ERR when it cannot be executed. */
int spawn_open(const char *path, struct error *err);

/* Opens the library at PATH, which programs are to load; -1 when there is none. */
int spawn_open_library(const char *path);

/* Executes the file open at EXECUTABLE with ARGUMENTS and no environment variables. */
int spawn_runner(struct spawned *ret, int executable, char *const *arguments, struct error *err);
