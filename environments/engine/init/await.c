#include "environments/engine/init/init.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INIT_DISMISSAL_SECONDS 10. /* for a server that has much to read */

/* It is the only child so far. */
static bool has_died(pid_t program)
{
    return program > 0 && waitpid(program, NULL, WNOHANG) != 0;
}

/* False when it is not FILE that has been laid over the script. An older kernel does not say. */
static bool is_laid_over(int file)
{
    struct statx status;

    return statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0 &&
           (!(status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
            status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* False: the server does not want it, or PROGRAM has died. */
static bool await_more(struct watch *watch, pid_t program)
{
    return watch_wait(watch) && !watch->is_dismissed && !has_died(program);
}

/* Whether the script has the code that follows the go. */
static bool await_code(struct watch *watch, pid_t program)
{
    struct stat status;

    while (watch->code > 0 && !watch->is_different)
        if (!await_more(watch, program))
            return false;
    return fstat(watch->file, &status) == 0 && S_ISREG(status.st_mode) &&
           (uint64_t)status.st_size == watch->go.size && is_laid_over(watch->file) &&
           !watch->is_different && close(watch->file) == 0;
}

bool await_go(struct watch *watch, pid_t program, double seconds)
{
    struct stat file;

    while (!watch->has_go)
        if (!await_more(watch, program))
            return false;
    watch->interrupted = false;
    watch->deadline = clock_seconds() + seconds;
    if (go_has_code(&watch->go))
        return await_code(watch, program);
    return fstatat(AT_FDCWD, watch->script, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
           go_is_for(&watch->go, &file);
}

void await_dismissal(struct watch *watch)
{
    watch->deadline = clock_seconds() + INIT_DISMISSAL_SECONDS;
    while (watch->lifeline >= 0 && !watch->is_dismissed && watch_wait(watch))
        ;
}
