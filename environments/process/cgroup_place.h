/* Where the cgroups of this process are, and the files of a cgroup's directory. */
#pragma once

#include <stdbool.h>

/* The directory of our own cgroup in the hierarchy with CONTROLLER whose file system is of TYPE:
 * "cgroup", or "cgroup2" with "" for CONTROLLER. Owned by the caller; NULL where there is none. */
char *cgroup_own_directory(const char *type, const char *controller);

enum { CGROUP_ENTRY_BYTES = 64 * 1024 }; /* more than any of the files has */

/* The content of DIRECTORY/NAME, or NULL; owned by the caller. */
char *cgroup_read_entry(const char *directory, const char *name);

/* Opens DIRECTORY/NAME for writing. -1 with errno. */
int cgroup_open_entry(const char *directory, const char *name);

/* Opens DIRECTORY/NAME for reading and, if possible, for writing. -1 with errno. */
int cgroup_open_counter(const char *directory, const char *name);

/* -1 with errno. */
int cgroup_write_entry(const char *directory, const char *name, const char *text);

bool cgroup_has_entry(const char *directory, const char *name);

/* True when TEXT, whose words are separated by spaces or commas, has WORD. TEXT may be NULL. */
bool cgroup_has_word(const char *text, const char *word);
