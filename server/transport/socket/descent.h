/* Which processes descend from this one. We adopt the orphans among our descendants (the process
 * host is a child subreaper), so we stay their ancestor however often they fork. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum descent {
    DESCENT_NONE,
    DESCENT_OURS,
    DESCENT_UNKNOWN, /* it ended meanwhile, or hides */
};

/* Whether PID descends from us. */
enum descent descent_of(pid_t pid);

/* Whether a descendant of ours holds the socket INODE. */
enum descent descent_of_socket(uint64_t inode);
