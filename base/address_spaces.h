/* Which memory was met already. Threads have one address space, and so do processes that were made
 * with CLONE_VM. The kernel alone says what is one (kcmp(2)): a process cannot pass for another. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ADDRESS_SPACES_MOST = 256 };

struct address_spaces {
    pid_t threads[ADDRESS_SPACES_MOST]; /* that have them */
    size_t count;
};

/* True if the kernel lets the caller compare. If not, each address space is a new one. */
bool address_spaces_can_compare(void);

/* Adds the address space of THREAD. False when it was there already. A set takes a fixed number;
 * behind that every one is new. */
bool address_spaces_add(struct address_spaces *spaces, pid_t thread);
