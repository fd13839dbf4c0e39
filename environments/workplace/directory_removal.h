/* Empties a directory with files of scripts, a little at a time.
 *
 * Nothing in it is trusted: links are not followed, no path strings are built, and neither depth
 * nor number of entries costs memory or descriptors. A directory inside another one is moved up
 * instead of entered, so that the removal works on two levels only. Directories without access
 * rights are given u+rwx first. Entries that cannot be removed are left for another attempt. */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct directory_removal {
    int directory;                 /* borrowed: to be emptied */
    DIR *entries;                  /* owned; a pass through it, or NULL between two passes */
    DIR *inner;                    /* owned; the present directory in it, or NULL */
    char inner_name[NAME_MAX + 1]; /* its name */
    unsigned long long next_name;  /* for the next directory that is moved up */
    bool found;                    /* the pass saw an entry */
    bool progressed;               /* the pass removed an entry or moved it up */
};

void directory_removal_init(struct directory_removal *removal, int directory);
void directory_removal_deinit(struct directory_removal *removal);

/* Does at most OPERATIONS small steps. True: there is more to do. False: the directory is empty, or
 * the rest cannot be removed now. */
bool directory_removal_step(struct directory_removal *removal, unsigned operations);

/* Opens the directory NAME in PARENT, not through a link, giving its owner all rights where they
 * are missing. -1 with errno set when it cannot be done. */
int directory_open_forced(int parent, const char *name);

/* The same, but leaves a directory that can be read as it is. A script may have taken its own
 * rights from one: it gets them back, or nobody could tell what it has written there. */
int directory_open_child(int parent, const char *name);

/* Opens DIRECTORY itself likewise. */
int directory_open_again(int directory);

/* Opens NAME likewise, as a stream from its beginning, owned by the caller; NULL when it cannot be
 * done. */
DIR *directory_open_stream(int parent, const char *name);

bool directory_is_same(const struct stat *a, const struct stat *b);

/* True if the owner of a directory has all rights. */
bool directory_allows_owner(const struct stat *status);

/* Gives the owner of the open directory FD with STATUS all rights. If that fails, operations that
 * need them fail later. */
void directory_allow_owner(int fd, const struct stat *status);

/* The same for a directory with its contents. */
struct tree_removal {
    char *path; /* owned */
    int fd;     /* owned */
    struct directory_removal removal;
};

/* False when there is no directory at PATH, not through a link, or it cannot be opened. */
bool tree_removal_open(struct tree_removal *removal, const char *path);

/* True: there is more to do. False: it is gone, or the rest cannot be removed now. */
bool tree_removal_step(struct tree_removal *removal);

void tree_removal_close(struct tree_removal *removal);
