#include "environments/process/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From the kernel's user interface (landlock(7)); libc has no wrappers, and Debian 12's headers
 * are older than the fields that are needed. */
enum {
    CREATE_RULESET = 444,
    ADD_RULE = 445,
    RESTRICT_SELF = 446,
    RULESET_VERSION = 1 << 0,
    RULE_PATH_BENEATH = 1,
    SCOPE_ABSTRACT_SOCKETS = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    SCOPES_SINCE_ABI = 6,
};

/* Accesses to files, in the order of the bits; each ABI knows a number of them, from the first. */
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIRECTORY = 1 << 3,
    MAKE_CHARACTER_DEVICE = 1 << 6,
    MAKE_BLOCK_DEVICE = 1 << 11,
    TRUNCATE = 1 << 14,
    ASK_DEVICE = 1 << 15,
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | ASK_DEVICE,
};

struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

struct path_beneath_attributes {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

/* A profile may allow only some of the three calls. EBADF: the call is there. */
static bool landlock_has_rules(void)
{
    return syscall(ADD_RULE, -1, 0, NULL, 0) < 0 && errno != ENOSYS && errno != EPERM &&
           syscall(RESTRICT_SELF, -1, 0) < 0 && errno != ENOSYS;
}

/* -1: there is no Landlock that can be used. The result is kept, because each rule asks for it. */
static long landlock_abi(void)
{
    static long abi; /* 0: not asked yet */

    if (abi == 0)
        abi = landlock_has_rules() ? syscall(CREATE_RULESET, NULL, (size_t)0, RULESET_VERSION) : -1;
    return abi;
}

bool landlock_can_scope_signals(void)
{
    return landlock_abi() >= SCOPES_SINCE_ABI;
}

bool landlock_can_hold_files(void)
{
    return landlock_abi() >= 1;
}

int landlock_restrict(int rules)
{
    return (int)syscall(RESTRICT_SELF, rules, 0);
}

int landlock_scope_signals(void)
{
    const struct ruleset_attributes attributes = {.scoped = SCOPE_SIGNAL};
    int rules = (int)syscall(CREATE_RULESET, &attributes, sizeof attributes, 0);
    int ret;

    if (rules < 0)
        return -1;
    ret = landlock_restrict(rules);
    close(rules);
    return ret;
}

/* All accesses that the kernel knows. */
static uint64_t landlock_all(void)
{
    static const unsigned counts[] = {0, 13, 14, 15, 15, 16}; /* by ABI */
    size_t abi = (size_t)landlock_abi();

    return (UINT64_C(1) << counts[abi < 5 ? abi : 5]) - 1;
}

int landlock_new(void)
{
    const struct ruleset_attributes attributes = {
        .handled_access_fs = landlock_all(),
        .scoped = landlock_can_scope_signals() ? SCOPE_ABSTRACT_SOCKETS : 0,
    };
    /* Older kernels know a shorter struct, and accept a longer one if its rest is zero. */
    return (int)syscall(CREATE_RULESET, &attributes, sizeof attributes, 0);
}

int landlock_allow(int rules, int place, enum landlock_access access)
{
    static const uint64_t rights[] = {
        [LANDLOCK_LIST] = READ_DIRECTORY,
        [LANDLOCK_READ] = EXECUTE | READ_FILE | READ_DIRECTORY,
        [LANDLOCK_WRITE] = ~(uint64_t)(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE | ASK_DEVICE),
        [LANDLOCK_DEVICES] = ~(uint64_t)(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE),
    };
    struct path_beneath_attributes attributes = {
        .allowed_access = rights[access] & landlock_all(),
        .parent_fd = place,
    };
    struct stat status;

    if (fstat(place, &status) < 0)
        return -1;
    if (!S_ISDIR(status.st_mode))
        attributes.allowed_access &= OF_FILES;
    return (int)syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &attributes, 0);
}
