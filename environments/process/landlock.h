/* Landlock (landlock(7)): rules that a process puts on itself and on its descendants, for good. It
 * must have no_new_privs. All functions return -1 with errno set. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True when the kernel can scope signals (ABI 6, Linux 6.12). */
bool landlock_can_scope_signals(void);

/* From now on the caller and its descendants can send signals only to each other: without a PID
 * namespace, a script cannot kill its supervisor and the server. */
int landlock_scope_signals(void);

/* True when the kernel has rules for files (ABI 1, Linux 5.13). */
bool landlock_can_hold_files(void);

/* A descriptor for new rules for files, without a rule yet; or -1. Closes on exec. */
int landlock_new(void);

enum landlock_access {
    LANDLOCK_LIST,    /* names of a directory are seen, not contents */
    LANDLOCK_READ,    /* read and executed */
    LANDLOCK_WRITE,   /* and every other access, except making devices and ioctl(2) on them */
    LANDLOCK_DEVICES, /* and ioctl(2) on devices */
};

/* Allows ACCESS to PLACE, a descriptor of a file or directory, and to all below it. */
int landlock_allow(int rules, int place, enum landlock_access access);

/* From now on files can be opened, changed or executed only as RULES allow, and the process does
 * not reach abstract sockets of other processes (with ABI 6). */
int landlock_restrict(int rules);
