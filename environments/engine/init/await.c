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

/* Whether SCRIPT has the code that follows GO. A script may have replaced the file by anything, so
 * it is opened without links and without waiting. */
static bool await_code(struct watch *watch, pid_t program, const struct go *go, const char *script)
{
    const int file = open(script, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    if (file < 0)
        return false;
    watch_expect_code(watch, file, go->size);
    while (!watch_has_code(watch))
        if (!watch_wait(watch) || has_died(program))
            return false;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           (uint64_t)status.st_size == go->size && is_laid_over(file) && !watch->is_different &&
           close(file) == 0;
}

bool await_go(struct watch *watch, pid_t program, const char *script, double seconds)
{
    struct stat file;
    struct go go;

    while (!watch_has_go(watch))
        if (!watch_wait(watch) || has_died(program))
            return false;
    go = go_decode(watch->go);
    watch->interrupted = false;
    watch->deadline = clock_seconds() + seconds;
    if (go_has_code(&go))
        return await_code(watch, program, &go, script);
    return fstatat(AT_FDCWD, script, &file, AT_SYMLINK_NOFOLLOW) == 0 && go_is_for(&go, &file);
}

void await_dismissal(struct watch *watch)
{
    watch->deadline = clock_seconds() + INIT_DISMISSAL_SECONDS;
    while (watch->lifeline >= 0 && !watch->is_dismissed && watch_wait(watch))
        ;
}
