#include "base/memory.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { IO_PRIORITY_OF_USER = 3 }; /* from linux/ioprio.h */

/* System calls that are answered with ERROR when an argument compares so. */
struct fence_rule {
    int number;
    int error;      /* 0: success, and nothing is done */
    unsigned count; /* of conditions: 0 or 1 */
    struct scmp_arg_cmp condition;
};

#define FENCE_ALWAYS(CALL, ERROR)                                                                  \
    {                                                                                              \
        SCMP_SYS(CALL), ERROR, 0,                                                                  \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define FENCE_OTHER(CALL, ARGUMENT)                                                                \
    {                                                                                              \
        SCMP_SYS(CALL), EPERM, 1, SCMP_CMP64(ARGUMENT, SCMP_CMP_NE, 0)                             \
    }
#define FENCE_FLAG(CALL, FLAG)                                                                     \
    {                                                                                              \
        SCMP_SYS(CALL), EPERM, 1, SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, FLAG, FLAG)                    \
    }
/* An int: the kernel does not see the upper half of the register. */
#define FENCE_PRETEND(CALL, KIND)                                                                  \
    {                                                                                              \
        SCMP_SYS(CALL), 0, 1, SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xffffffff, KIND)                  \
    }
#define FENCE_KIND(CALL, KIND)                                                                     \
    {                                                                                              \
        SCMP_SYS(CALL), EPERM, 1, SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xffffffff, KIND)              \
    }

/* The flags of clone3 are out of a filter's sight: the C library goes on with clone. Programs that
 * keep secrets ask to be undumpable, and some end when they cannot be; to the supervisor they would
 * hide what files they hold. */
static const struct fence_rule kernel_rules[] = {
    FENCE_ALWAYS(add_key, ENOSYS),         FENCE_ALWAYS(request_key, ENOSYS),
    FENCE_ALWAYS(keyctl, ENOSYS),          FENCE_ALWAYS(clone3, ENOSYS),
    FENCE_FLAG(unshare, CLONE_NEWUSER),    FENCE_FLAG(clone, CLONE_NEWUSER),
    FENCE_PRETEND(prctl, PR_SET_DUMPABLE),
};

/* The process that a call acts on must be 0, the caller; and no call acts on all of a user. */
static const struct fence_rule process_rules[] = {
    FENCE_OTHER(prlimit64, 0),
    FENCE_OTHER(setpriority, 1),
    FENCE_KIND(setpriority, PRIO_USER),
    FENCE_OTHER(sched_setaffinity, 0),
    FENCE_OTHER(sched_setattr, 0),
    FENCE_OTHER(sched_setparam, 0),
    FENCE_OTHER(sched_setscheduler, 0),
    FENCE_OTHER(ioprio_set, 1),
    FENCE_KIND(ioprio_set, IO_PRIORITY_OF_USER),
};

/* A call that comes by an architecture that the filter does not know ends its process. */
static int add_second_architecture(scmp_filter_ctx filter)
{
    if (seccomp_arch_native() == SCMP_ARCH_X86_64)
        return seccomp_arch_add(filter, SCMP_ARCH_X86);
    if (seccomp_arch_native() == SCMP_ARCH_AARCH64)
        return seccomp_arch_add(filter, SCMP_ARCH_ARM);
    return 0;
}

static int fence_load(scmp_filter_ctx filter, const struct fence_rule *rules, size_t count)
{
    int ret = add_second_architecture(filter);

    for (size_t i = 0; ret >= 0 && i < count; i++)
        ret = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO((uint32_t)rules[i].error),
                                     rules[i].number, rules[i].count, &rules[i].condition);
    return ret < 0 ? ret : seccomp_load(filter);
}

static int fence_install(const struct fence_rule *rules, size_t count)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int ret = filter ? fence_load(filter, rules, count) : -ENOMEM;

    if (filter)
        seccomp_release(filter);
    errno = ret < 0 ? -ret : 0;
    return ret < 0 ? -1 : 0;
}

int fence_kernel(void)
{
    return fence_install(kernel_rules, ARRAY_SIZE(kernel_rules));
}

int fence_other_processes(void)
{
    return fence_install(process_rules, ARRAY_SIZE(process_rules));
}
