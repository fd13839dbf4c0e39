/* Landlock (landlock(7)): rules that a process puts on itself and on all that it starts, for good.
 * It must have no_new_privs. All answer -1 with errno set. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True when the kernel can scope signals (ABI 6, Linux 6.12). */
bool landlock_can_scope_signals(void);

/* From now on signals stay among the caller and what it starts: where there is no PID namespace, a
 * script cannot kill its supervisor and the server. */
int landlock_scope_signals(void);

/* True when the kernel has rules for files (ABI 1, Linux 5.13). */
bool landlock_can_hold_files(void);

/* Rules for files in the making; or -1. Closes on exec. */
int landlock_new(void);

enum landlock_access {
    LANDLOCK_LIST,    /* its names are seen, not what is in it */
    LANDLOCK_READ,    /* read and executed */
    LANDLOCK_WRITE,   /* and everything else, but to make devices and to ask them for more */
    LANDLOCK_DEVICES, /* and to ask them */
};

/* PLACE, a descriptor of a file or directory, and what is below can be used so. */
int landlock_allow(int rules, int place, enum landlock_access access);

/* From now on nothing but what RULES allow can be opened, changed or executed; nor does the
 * process reach abstract sockets of others (where ABI 6 is there). */
int landlock_restrict(int rules);
