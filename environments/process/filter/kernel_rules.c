#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>

static const struct filter_rule kernel_rules[] = {
    /* The quota of keys belongs to the user, and so to the server. */
    {"add_key request_key keyctl", ENOSYS},
    /* In a user namespace of its own a program would have capabilities. The flags of clone3 are out
     * of a filter's sight: the C library goes on with clone. */
    {"clone unshare", EPERM, FILTER_HAS, 0, CLONE_NEWUSER},
    {"clone3", ENOSYS},
    {"openat2", ENOSYS}, /* see file_rules.c; programs go on with openat */
    /* Programs that keep secrets ask to be undumpable, and some end at a failure. So the call does
     * nothing: an undumpable program would hide its files from the supervisor. */
    {"prctl", 0, FILTER_IS, 0, PR_SET_DUMPABLE},
    {0},
};

const struct filter_rules kernel_filter = {
    .name = "FILTER_KERNEL",
    .tables = {kernel_rules, file_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
};
