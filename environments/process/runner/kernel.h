/* Small services of the kernel that need more than one call, or have no function in libc. */
#pragma once

#include <sys/types.h>

/* Closes the open descriptors from FIRST to LAST. */
void kernel_close(int first, int last);

/* Writes TEXT to a file of the kernel's. -1 with errno set. */
int kernel_write(const char *path, const char *text);

/* Forks a child of the server, which waits for it. */
pid_t kernel_fork_sibling(void);
