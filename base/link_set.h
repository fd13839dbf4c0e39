/* Which files with several names were met already, by device and inode. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct link_set {
    uint64_t *places; /* owned; a hash table, 0: empty */
    size_t count;
    size_t capacity; /* a power of two, or 0 */
};

/* Adds the file that STATUS is of. False when it was there already. A set takes a fixed number of
 * files; behind that every one is new. */
bool link_set_add(struct link_set *set, const struct stat *status);
void link_set_deinit(struct link_set *set);
