#include "environments/process/landlock.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From the kernel's user interface (landlock(7)); libc has no wrappers, and Debian 12's headers
 * are older than the field that is needed. */
enum {
    CREATE_RULESET = 444,
    RESTRICT_SELF = 446,
    RULESET_VERSION = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    SCOPES_SINCE_ABI = 6,
};

struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

bool landlock_can_scope_signals(void)
{
    return syscall(CREATE_RULESET, NULL, (size_t)0, RULESET_VERSION) >= SCOPES_SINCE_ABI;
}

int landlock_scope_signals(void)
{
    const struct ruleset_attributes attributes = {.scoped = SCOPE_SIGNAL};
    int ruleset = (int)syscall(CREATE_RULESET, &attributes, sizeof attributes, 0);
    int ret;

    if (ruleset < 0)
        return -1;
    ret = (int)syscall(RESTRICT_SELF, ruleset, 0);
    close(ruleset);
    return ret;
}
