/* The CPU time and memory of a container, as its cgroup counts them, of v2 or v1. The container
 * sees its own cgroup, and can only read it. */
#pragma once

#include <stdint.h>

/* Seconds of CPU time; 0 if the cgroup does not show them. */
double usage_cpu(void);

/* The most memory in bytes since the container began; 0 if the cgroup does not show it. */
uint64_t usage_peak(void);

/* A descriptor for usage_count_kills(), opened before a program can set limits; -1 where there is
 * none. */
int usage_watch_kills(void);

/* Processes of the container that were killed for want of memory, in all its life. */
long usage_count_kills(int fd);
