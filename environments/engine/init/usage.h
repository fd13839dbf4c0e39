/* What a container has used, as its cgroup counts: of v2, or of v1. It sees its own, and can only
 * read there. */
#pragma once

#include <stdint.h>

/* Seconds of the processor; 0 where that is not shown. */
double usage_cpu(void);

/* Most memory in bytes since the container began; 0 likewise. */
uint64_t usage_peak(void);
