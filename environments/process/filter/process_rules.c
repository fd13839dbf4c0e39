#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <sys/resource.h>

enum { IO_PRIORITY_OF_USER = 3 }; /* from linux/ioprio.h */

/* The process that a call acts on must be 0, the caller; no call acts on all processes of a user.
 */
static const struct filter_rule process_rules[] = {
    {"prlimit64", EPERM, FILTER_IS_NOT, 0, 0},
    {"sched_setaffinity sched_setattr sched_setparam sched_setscheduler", EPERM, FILTER_IS_NOT, 0,
     0},
    {"setpriority ioprio_set", EPERM, FILTER_IS_NOT, 1, 0},
    {"setpriority", EPERM, FILTER_IS, 0, PRIO_USER},
    {"ioprio_set", EPERM, FILTER_IS, 0, IO_PRIORITY_OF_USER},
    {0},
};

const struct filter_rules process_filter = {
    .name = "FILTER_OTHER_PROCESSES",
    .tables = {process_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
};
