/* The regular files in a directory tree. It is looked at a little at a time, so that nobody waits
 * for a large tree; one descriptor is open meanwhile.
 *
 * The tree belongs to scripts, so nothing in it is trusted: no link is followed, only the first
 * DIRECTORY_LISTING_ENTRIES entries down to a depth of DIRECTORY_LISTING_DEPTH are looked at, and
 * directories that cannot be opened are passed over. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

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

/* A file, whatever its paths are. */
struct left_out_file {
    dev_t device;
    ino_t inode;
};

/* Begins to list the tree under the descriptor DIRECTORY (borrowed until the first step returns).
 * Caches are not looked into: __pycache__ and directories whose name begins with a dot. */
struct directory_listing *directory_listing_new(int directory);

/* The same for a copy of the tree: folders, links and all other entries count as files, and only
 * __pycache__ is not looked into. */
struct directory_listing *directory_listing_new_of_all(int directory);

/* LISTING, which has not begun, passes over FILES (borrowed while it looks). */
void directory_listing_leave_out(struct directory_listing *listing,
                                 const struct left_out_file *files, size_t count);

/* A listing that has seen an empty tree. */
struct directory_listing *directory_listing_new_empty(void);
void directory_listing_free(struct directory_listing *listing);

/* Does at most OPERATIONS small steps. True: there is more to do. The functions below may be called
 * only after a False. */
bool directory_listing_step(struct directory_listing *listing, unsigned operations);

/* From the next directory_listing_settle() on LISTING has the file at PATH as STATUS says, or does
 * not have it any more, whatever it has seen there. */
void directory_listing_note(struct directory_listing *listing, const char *path,
                            const struct stat *status);
void directory_listing_forget(struct directory_listing *listing, const char *path);
void directory_listing_settle(struct directory_listing *listing);

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

/* False when there is more in the tree than LISTING has. */
bool directory_listing_is_complete(const struct directory_listing *listing);

/* The bytes of its regular files, each by its length; at most 2^62, as sparse files may have any.
 */
uint64_t directory_listing_size(const struct directory_listing *listing);

/* The path of the next file of AFTER that is new or different since BEFORE, which may be NULL.
 * *PLACE is 0 before the first. Borrowed; NULL: there is none. */
const char *directory_listing_next_change(const struct directory_listing *before,
                                          const struct directory_listing *after, size_t *place);

/* The same for a file of BEFORE that AFTER does not have, or has as another kind of file. */
const char *directory_listing_next_loss(const struct directory_listing *before,
                                        const struct directory_listing *after, size_t *place);

/* True when the file at PATH, which has STATUS now, is as LISTING has seen it; of a folder, when
 * there was one. */
bool directory_listing_knows(const struct directory_listing *listing, const char *path,
                             const struct stat *status);
