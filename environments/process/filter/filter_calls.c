#include "environments/process/filter/filter_calls.h"

#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_NEWER_CALL = 451 };

/* Since Linux 5.4 a new call has the same number on every architecture. */
static const char *const newer_calls[FILTER_CALLS - FIRST_NEWER_CALL] = {
    "cachestat",         "fchmodat2",         "map_shadow_stack", "futex_wake",
    "futex_wait",        "futex_requeue",     "statmount",        "listmount",
    "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
    "setxattrat",        "getxattrat",        "listxattrat",      "removexattrat",
    "open_tree_attr",    "file_getattr",      "file_setattr",
};

char *filter_call_name(uint32_t architecture, uint32_t number)
{
    if (number >= FIRST_NEWER_CALL)
        return number < FILTER_CALLS ? strdup(newer_calls[number - FIRST_NEWER_CALL]) : NULL;
    return seccomp_syscall_resolve_num_arch(architecture, (int)number);
}

static bool filter_call_is_newer(const char *name)
{
    for (size_t i = 0; i < FILTER_CALLS - FIRST_NEWER_CALL; i++)
        if (strcmp(newer_calls[i], name) == 0)
            return true;
    return false;
}

bool filter_call_is_known(const char *name, size_t length)
{
    char *word = strndup(name, length);
    bool is_known = word && (filter_call_is_newer(word) ||
                             seccomp_syscall_resolve_name(word) != __NR_SCMP_ERROR);

    free(word);
    return is_known;
}
