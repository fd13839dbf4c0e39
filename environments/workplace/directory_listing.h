/* The regular files in a directory tree. It is looked at a little at a time, so that nobody waits
 * for a large tree; one descriptor is open meanwhile.
 *
 * The tree belongs to scripts, so nothing in it is trusted: no link is followed, only the first
 * DIRECTORY_LISTING_ENTRIES entries down to a depth of DIRECTORY_LISTING_DEPTH are looked at, and
 * directories that cannot be opened are passed over. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    DIRECTORY_LISTING_ENTRIES = 10000,
    DIRECTORY_LISTING_DEPTH = 128,
    DIRECTORY_LISTING_CHANGES = 100, /* most files that a list of changes names */
};

struct directory_listing;

/* The files that are new or different since an earlier look. */
struct directory_changes {
    json_t *files;     /* sorted by path: array of {path, size, mimeType} */
    bool are_complete; /* false: there may be more */
    bool has_removed;  /* a file is not there any more */
};

/* Begins to list the tree under the descriptor DIRECTORY (borrowed until the first step returns).
 * Caches are not looked into: __pycache__ and directories whose name begins with a dot. */
struct directory_listing *directory_listing_new(int directory);
void directory_listing_free(struct directory_listing *listing);

/* Does at most OPERATIONS small steps. True: there is more to do. The functions below may be called
 * only after a False. */
bool directory_listing_step(struct directory_listing *listing, unsigned operations);

/* True when LISTING has seen all that takes room in the tree: BYTES, as a measure counts them. Not
 * with caches, with files of several names, or where it is not complete. */
bool directory_listing_measures(const struct directory_listing *listing, uint64_t *ret_bytes);

/* At most MOST files of LISTING, behind the path AFTER or, if AFTER is NULL, from the first on:
 * array of {path, size, mimeType}. A path that is not UTF-8 is left out. New reference. */
json_t *directory_listing_files(const struct directory_listing *listing, const char *after,
                                size_t most);

/* The changes from BEFORE to AFTER. Their files are a new reference. */
struct directory_changes directory_listing_changes(const struct directory_listing *before,
                                                   const struct directory_listing *after);
