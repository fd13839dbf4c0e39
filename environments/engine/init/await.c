#include "environments/engine/init/init.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* It is the only child so far. */
static bool has_died(pid_t program)
{
    return program > 0 && waitpid(program, NULL, WNOHANG) != 0;
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
    return fstatat(AT_FDCWD, script, &file, AT_SYMLINK_NOFOLLOW) == 0 && go_is_for(&go, &file);
}

bool answer_go(void)
{
    const char answer = GO_ANSWER;

    return write(STDOUT_FILENO, &answer, 1) == 1 && write(STDERR_FILENO, &answer, 1) == 1;
}
