/* Empties a directory with files of scripts, a little at a time.
 *
 * Nothing in it is trusted: links are not followed, no path strings are built, and neither depth
 * nor number of entries costs memory or descriptors. A directory inside another one is moved up
 * instead of entered, so that the removal works on two levels only. Directories without access
 * rights are given u+rwx first. What cannot be removed is left for another attempt. */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

struct directory_removal {
    int directory;                 /* borrowed: the one that is emptied */
    DIR *entries;                  /* owned; a pass through it, or NULL between two passes */
    DIR *inner;                    /* owned; the directory in it that is at hand, or NULL */
    char inner_name[NAME_MAX + 1]; /* its name */
    unsigned long long next_name;  /* for what is lifted */
    bool found;                    /* the pass saw an entry */
    bool progressed;               /* the pass removed or lifted one */
};

void directory_removal_init(struct directory_removal *removal, int directory);
void directory_removal_deinit(struct directory_removal *removal);

/* Does at most OPERATIONS small steps. True: there is more to do. False: the directory is empty, or
 * what is left cannot be removed now. */
bool directory_removal_step(struct directory_removal *removal, unsigned operations);

/* Opens the directory NAME in PARENT, not through a link, giving its owner all rights where they
 * are missing. -1 with errno set when it cannot be done. */
int directory_open_forced(int parent, const char *name);

/* The same as a stream from its beginning, owned by the caller; NULL when it cannot be done. */
DIR *directory_open_stream(int parent, const char *name);

/* Gives the owner of the open directory FD all rights; where that fails, what needs them will. */
void directory_allow_owner(int fd);
