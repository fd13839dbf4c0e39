#include "environments/approval_policy.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [APPROVAL_NEVER] = "never",
    [APPROVAL_FIRST] = "first",
    [APPROVAL_ALWAYS] = "always",
};

const char *approval_policy_name(enum approval_policy policy)
{
    return names[policy];
}

enum approval_policy approval_policy_find(const char *name, enum approval_policy otherwise)
{
    for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum approval_policy)i;
    return otherwise;
}
