#include "environments/execution.h"

#include <sys/wait.h>

int execution_returncode(int wait_status)
{
    return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
