/* Annexes of working directories, in the private directory of a workplace of their own:
 *
 *     ROOT/
 *         private-HEX/           removed when its server has ended
 *             HANDLE/            the annex of the directory HANDLE */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/workplace/workplace_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANNEX_OF_PATH "path" /* of the configured directory, whose handle is no name of a file */

int workplace_open_annexes(struct workplace *workplace, const char *root, struct error *err)
{
    if (workplace->annexes)
        return 0;
    workplace->annexes =
        workplace_new(&(struct workplace_settings){.loop = workplace->loop, .root = root}, err);
    return workplace->annexes ? 0 : -1;
}

/* Scripts with an uid of their own read it. */
static bool annex_make(const struct workplace *annexes, const char *name)
{
    return mkdirat(annexes->private_fd, name, 0755) == 0 || errno == EEXIST;
}

const char *working_directory_annex(struct working_directory *directory)
{
    const struct workplace *annexes = directory->workplace->annexes;
    const char *name =
        working_directory_is_temporary(directory) ? directory->handle : ANNEX_OF_PATH;

    if (!annexes || working_directory_is_lent(directory) || !annex_make(annexes, name))
        return NULL;
    free(directory->annex);
    directory->annex = memory_format("%s/%s/%s", annexes->root, annexes->private_name, name);
    return directory->annex;
}

void working_directory_clear_annex(struct working_directory *directory, const char *name)
{
    struct workplace *annexes = directory->workplace->annexes;
    const char *annex = working_directory_annex(directory);
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = annex ? untrusted_open_directory(AT_FDCWD, annex, &ignored) : -1;

    if (fd >= 0 && sweep_discard(annexes, fd, name) == 0)
        sweep_hurry(annexes);
}
