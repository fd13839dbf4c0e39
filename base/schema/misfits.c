#include "base/schema/misfits.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <string.h>

void misfits_add(struct misfits *misfits, const char *misfit)
{
    AUTO_FREE char *text = memory_format("%s%s", misfits->length ? "; " : "", misfit);
    size_t room = sizeof misfits->text - misfits->length;
    size_t length = strlen(text);

    if (length > room && misfits->length) {
        misfits->unnamed++;
        return;
    }
    if (length > room)
        length = utf8_boundary_before(text, room);
    memcpy(misfits->text + misfits->length, text, length);
    misfits->length += length;
}

/* "timeout must be number, not string", "timeot: unknown key ...". */
void misfits_on_problem(void *data, enum schema_problem_place place, const char *pointer,
                        const char *message)
{
    struct misfits *misfits = data;
    AUTO_FREE char *path = json_pointer_dotted(pointer);
    AUTO_FREE char *misfit = *path ? memory_format("%s%s%s %s", misfits->prefix, path,
                                                   place == SCHEMA_AT_KEY ? ":" : "", message)
                                   : memory_format("%s %s", misfits->whole, message);

    misfits_add(misfits, misfit);
}

int misfits_tell(const struct misfits *misfits, const char *introduction, struct error *err)
{
    if (misfits->length == 0)
        return 0;
    if (misfits->unnamed)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "%s: %.*s; and %zu more problems",
                         introduction, (int)misfits->length, misfits->text, misfits->unnamed);
    return error_set(err, ERROR_INVALID_ARGUMENTS, "%s: %.*s", introduction, (int)misfits->length,
                     misfits->text);
}
