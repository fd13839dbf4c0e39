/* Where the cgroups of this process are. */
#pragma once

#include <stdbool.h>

/* True when TEXT, whose words are separated by spaces or commas, has WORD. TEXT may be NULL. */
bool cgroup_has_word(const char *text, const char *word);

/* The directory of our own cgroup in the hierarchy with CONTROLLER whose file system is of TYPE:
 * "cgroup", or "cgroup2" with "" for CONTROLLER. Owned by the caller; NULL where there is none. */
char *cgroup_own_directory(const char *type, const char *controller);
