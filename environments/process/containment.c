#include "environments/process/containment.h"

const char *containment_name(enum containment containment)
{
    static const char *const names[] = {
        [CONTAINMENT_PID_NAMESPACE] = "pid namespace",
        [CONTAINMENT_CGROUP] = "cgroup",
        [CONTAINMENT_LANDLOCK] = "landlock",
        [CONTAINMENT_BEST_EFFORT] = "best effort",
    };

    return names[containment];
}
