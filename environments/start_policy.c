#include "environments/start_policy.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>

enum start_policy start_policy_find(const char *name)
{
    static const char *const names[] = {
        [START_WARM] = "warm", [START_FRESH] = "fresh", [START_COLD] = "cold"};

    for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum start_policy)i;
    return START_WARM;
}
