#include "environments/process/absence.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

#define TRY_AGAIN_SECONDS 60.0

void absence_deinit(struct absence *absence)
{
    free(absence->what);
    *absence = (struct absence){0};
}

bool absence_is_proven(int number)
{
    static const int proofs[] = {EPERM, EACCES, EROFS, EINVAL, E2BIG, ENOSYS, EOPNOTSUPP};

    for (size_t i = 0; i < ARRAY_SIZE(proofs); i++)
        if (number == proofs[i])
            return true;
    return false;
}

void absence_note(struct absence *absence, const char *what)
{
    absence_deinit(absence);
    absence->what = memory_copy_string(what);
    absence->until = clock_seconds() + TRY_AGAIN_SECONDS;
}

void absence_end(struct absence *absence)
{
    absence_deinit(absence);
}

bool absence_is_due(const struct absence *absence)
{
    return absence->what && clock_seconds() >= absence->until;
}
