#include "environments/images_policy.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>

static const char *const images_names[] = {
    [IMAGES_INLINE] = "inline",
    [IMAGES_FILE] = "file",
    [IMAGES_OFF] = "off",
};

const char *images_policy_name(enum images_policy policy)
{
    return images_names[policy];
}

enum images_policy images_policy_find(const char *name, enum images_policy otherwise)
{
    for (size_t i = 0; name && i < ARRAY_SIZE(images_names); i++)
        if (strcmp(images_names[i], name) == 0)
            return (enum images_policy)i;
    return otherwise;
}
