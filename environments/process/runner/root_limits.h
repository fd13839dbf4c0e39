/* The limits of a tree, as files in the root of its sandbox. */
#pragma once

#define ROOT_LIMITS_GROUP "/sys/fs/cgroup"

struct control_run;

/* Writes the files for the limits of RUN into the root, which can still be written. -1 with errno
 * set. */
int root_limits_write(const struct control_run *run);

/* Lays a file over the meminfo of /proc, if the limits ask for one. -1 with errno set. */
int root_limits_lay_over(void);
