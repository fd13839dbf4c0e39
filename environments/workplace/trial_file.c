#include "environments/workplace/trial_file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "base/untrusted.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIAL_PREFIX       ".pyexecd-"
#define TRIAL_KEPT_SECONDS 60. /* longer than any node may take to find it */

enum { TRIAL_DIGITS = 32 }; /* of its name, and of its content */

int trial_file_make(struct trial_file *trial, const char *place, struct error *err)
{
    AUTO_FREE char *digits = random_digits(TRIAL_DIGITS);
    AUTO_FREE char *path = memory_format("%s/" TRIAL_PREFIX "%s", place, digits);
    AUTO_FREE char *content = random_digits(TRIAL_DIGITS);

    if (fd_write_new_file(path, S_IRUSR | S_IWUSR, content, TRIAL_DIGITS, err) < 0)
        return -1;
    trial->path = STEAL_PTR(path);
    trial->content = STEAL_PTR(content);
    return 0;
}

bool trial_file_is_whole(const struct trial_file *trial)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *found = untrusted_read(AT_FDCWD, trial->path, TRIAL_DIGITS, &length, &ignored);

    return found && strcmp(found, trial->content) == 0;
}

void trial_file_remove(struct trial_file *trial)
{
    if (trial->path)
        (void)unlink(trial->path);
    free(STEAL_PTR(trial->path));
    free(STEAL_PTR(trial->content));
}

static bool trial_file_has_name(const char *name)
{
    return text_starts_with(name, TRIAL_PREFIX) &&
           strlen(name) == strlen(TRIAL_PREFIX) + TRIAL_DIGITS;
}

void trial_file_sweep(int folder, const char *name)
{
    struct timespec now;
    struct stat status;

    if (!trial_file_has_name(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    if (difftime(now.tv_sec, status.st_mtim.tv_sec) >= TRIAL_KEPT_SECONDS)
        (void)unlinkat(folder, name, 0);
}
