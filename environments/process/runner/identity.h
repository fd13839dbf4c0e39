/* The user of a tree: its own uid, where the server is root. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct program;
struct runner_preparation;

/* In a user namespace of its own: maps the ids of its user onto themselves. No other mapping is
 * allowed without privilege. -1 with errno set. */
int identity_map_own(uid_t uid, gid_t gid);

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
