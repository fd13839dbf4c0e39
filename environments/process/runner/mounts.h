/* The mounts of a tree's own mount namespace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
