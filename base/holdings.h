/* Memory and disk space of a PID namespace that neither a directory nor a limit of the kernel
 * shows: files that were deleted while they are open, and, without a memory cgroup, memory that is
 * shared. For the first process of the namespace, which sees all of them in its own /proc. It is a
 * look at one moment, which costs a system call for each open file of each thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HOLDINGS_SECONDS 0.1 /* between two looks ... */
#define HOLDINGS_SHARE   20. /* ... and more, when one takes more than a 20th of the time */

struct holdings {
    uint64_t deleted; /* bytes of deleted files that are open */
    uint64_t memory;  /* bytes of memory, files in memory included; only of a look at it */
    bool is_hindered; /* there is more: a process hides it, or our limits are too low to look */
};

/* True when /proc shows the PID namespace whose first process the caller is. */
bool holdings_can_look(void);

/* Looks at the files of all processes but the caller. Files that exist in memory only are apart. */
void holdings_look_at_files(struct holdings *ret);

/* The same, and at the memory. Memory that several processes share counts once. */
void holdings_look_at_all(struct holdings *ret);
