#include "environments/process/filter/filter.h"

#include "environments/process/filter/filter_programs.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int filter_install(enum filter filter)
{
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter_programs[filter]);
}
