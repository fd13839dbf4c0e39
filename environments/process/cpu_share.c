#include "environments/process/cpu_share.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/cgroup_place.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MOST = 8192 }; /* the most that Linux can be built for */

/* The smaller of A and B, where 0 stands for no quota. */
static double smaller_quota(double a, double b)
{
    if (a <= 0 || b <= 0)
        return a <= 0 ? b : a;
    return a < b ? a : b;
}

/* A QUOTA that is no positive number means no quota. */
static double quota_of(double quota, double period)
{
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* v2: "150000 100000" or "max 100000". */
static double read_unified_quota(const char *directory)
{
    AUTO_FREE char *text = cgroup_read_entry(directory, "cpu.max");
    double quota;
    double period;

    if (!text || sscanf(text, "%lf %lf", &quota, &period) != 2)
        return 0;
    return quota_of(quota, period);
}

/* v1 */
static double read_split_quota(const char *directory)
{
    AUTO_FREE char *quota = cgroup_read_entry(directory, "cpu.cfs_quota_us");
    AUTO_FREE char *period = cgroup_read_entry(directory, "cpu.cfs_period_us");

    return quota && period ? quota_of(strtod(quota, NULL), strtod(period, NULL)) : 0;
}

double cpu_share_quota(const char *directory)
{
    AUTO_FREE char *place = memory_copy_string(directory);
    double least = 0;
    char *slash;

    /* Every cgroup has this file, also those without the controller. */
    while (cgroup_has_entry(place, "cgroup.procs")) {
        least = smaller_quota(least, read_unified_quota(place));
        least = smaller_quota(least, read_split_quota(place));
        slash = strrchr(place, '/');
        if (!slash || slash == place)
            break;
        *slash = '\0';
    }
    return least;
}

static double count_cpus(void)
{
    static const size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
    AUTO_FREE cpu_set_t *set = memory_new(1, bytes);
    int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;

    return count > 0 ? count : 1;
}

double cpu_share(void)
{
    AUTO_FREE char *unified = cgroup_own_directory("cgroup2", "");
    AUTO_FREE char *split = cgroup_own_directory("cgroup", "cpu");
    double share = count_cpus();

    if (unified)
        share = smaller_quota(share, cpu_share_quota(unified));
    if (split)
        share = smaller_quota(share, cpu_share_quota(split));
    return share;
}
