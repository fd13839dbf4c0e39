#include "base/memory.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <seccomp.h>

/* System calls, and which argument names the process that they act on; the value 0 means the
 * caller. */
static const struct {
    int number;
    unsigned argument;
} fenced[] = {
    {SCMP_SYS(prlimit64), 0},     {SCMP_SYS(setpriority), 1},    {SCMP_SYS(sched_setaffinity), 0},
    {SCMP_SYS(sched_setattr), 0}, {SCMP_SYS(sched_setparam), 0}, {SCMP_SYS(sched_setscheduler), 0},
    {SCMP_SYS(ioprio_set), 1},
};

static int add_rules(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < ARRAY_SIZE(fenced); i++) {
        const struct scmp_arg_cmp other = {
            .arg = fenced[i].argument, .op = SCMP_CMP_NE, .datum_a = 0};
        int ret =
            seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), fenced[i].number, 1, &other);

        if (ret < 0)
            return ret;
    }
    return seccomp_load(filter);
}

int fence_other_processes(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int ret = filter ? add_rules(filter) : -ENOMEM;

    if (filter)
        seccomp_release(filter);
    errno = ret < 0 ? -ret : 0;
    return ret < 0 ? -1 : 0;
}
