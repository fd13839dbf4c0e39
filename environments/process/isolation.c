#include "environments/process/isolation.h"

const char *isolation_name(enum isolation isolation)
{
    static const char *const names[ISOLATIONS] = {
        [ISOLATION_NONE] = "none",
        [ISOLATION_SANDBOX] = "sandbox",
        [ISOLATION_DOCKER] = "docker",
    };

    return names[isolation];
}
