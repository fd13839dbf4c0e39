#include "environments/pictures/helper/confine.h"

#include "base/memory.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A system call that is allowed when an argument compares so. */
struct confine_rule {
    int number;
    unsigned count; /* of conditions: 0 or 1 */
    struct scmp_arg_cmp condition;
};

static const struct confine_rule confine_rules[] = {
    {SCMP_SYS(read), 1, SCMP_CMP64(0, SCMP_CMP_EQ, STDIN_FILENO)},
    {SCMP_SYS(write), 1, SCMP_CMP64(0, SCMP_CMP_EQ, STDOUT_FILENO)},
    {SCMP_SYS(mmap), 1, SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
    {SCMP_SYS(brk), 0, {0}},
    {SCMP_SYS(mremap), 0, {0}},
    {SCMP_SYS(munmap), 0, {0}},
    {SCMP_SYS(exit_group), 0, {0}},
};

static int confine_load(scmp_filter_ctx filter)
{
    int ret = 0;

    for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(confine_rules); i++)
        ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, confine_rules[i].number,
                                     confine_rules[i].count, &confine_rules[i].condition);
    return ret < 0 ? ret : seccomp_load(filter);
}

int confine_self(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int ret;

    if (!filter || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    ret = confine_load(filter);
    seccomp_release(filter);
    return ret < 0 ? -1 : 0;
}
