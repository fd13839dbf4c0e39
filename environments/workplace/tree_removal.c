#include "environments/workplace/tree_removal.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEP_OPERATIONS = 256 };

bool tree_removal_open(struct tree_removal *removal, const char *path)
{
    int fd = directory_open_forced(AT_FDCWD, path);

    if (fd < 0)
        return false;
    *removal = (struct tree_removal){.path = memory_copy_string(path), .fd = fd};
    directory_removal_init(&removal->removal, fd);
    return true;
}

bool tree_removal_step(struct tree_removal *removal)
{
    if (directory_removal_step(&removal->removal, STEP_OPERATIONS))
        return true;
    (void)rmdir(removal->path); /* unless something is left */
    return false;
}

void tree_removal_close(struct tree_removal *removal)
{
    if (!removal->path)
        return;
    directory_removal_deinit(&removal->removal);
    close(removal->fd);
    free(removal->path);
    removal->path = NULL;
}
