/* Removing a directory with its contents, a little at a time; see directory_removal.h. */
#pragma once

#include "environments/workplace/directory_removal.h"

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
