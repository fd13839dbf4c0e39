/* How much room a directory tree takes on its disk, of any size, measured in small steps.
 *
 * The tree belongs to scripts, which may work in it meanwhile, so nothing in it is trusted: no link
 * is followed, and entries that have gone meanwhile are passed over. A file with several names
 * counts once, and in full: its other names may be anywhere. Every entry counts as a block at
 * least, so that a number of bytes is a number of entries, too. */
#pragma once

#include "base/link_set.h"
#include "base/list.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

enum { DIRECTORY_MEASURE_DEPTH = 1000 }; /* levels; deeper entries are not seen */

struct measured_directory;

struct directory_measure {
    int root;              /* borrowed */
    struct timespec until; /* files changed at this time or later do not count; 0: all count */
    uint64_t bytes;        /* so far */
    bool is_complete;      /* false: a part cannot be looked at */

    /* Private. */
    struct list pending;                /* owned: directories that are still to be looked at */
    struct measured_directory *current; /* owned; NULL: none */
    DIR *stream;                        /* of the current one */
    struct link_set links;
};

/* The bytes that an entry with STATUS takes. */
uint64_t directory_measure_entry(const struct stat *status);

/* Begins to measure the tree below ROOT. */
void directory_measure_begin(struct directory_measure *measure, int root);

/* Begins and is done: another look has seen that all of the tree takes BYTES. */
void directory_measure_know(struct directory_measure *measure, uint64_t bytes);

/* Looks at OPERATIONS more entries. True when there may be more. */
bool directory_measure_step(struct directory_measure *measure, unsigned operations);
void directory_measure_end(struct directory_measure *measure);
