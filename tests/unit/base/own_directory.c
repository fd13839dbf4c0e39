#include "tests/unit/base/own_directory.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int own_directory_make(void **state)
{
    AUTO_FREE char *parent = realpath(getenv("TMPDIR") ?: "/tmp", NULL);
    char *path = memory_format("%s/pyexecd-test-XXXXXX", parent);

    *state = mkdtemp(path);
    return *state ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

int own_directory_remove(void **state)
{
    nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return 0;
}
