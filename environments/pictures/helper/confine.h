/* Gives up the rights that a decoder does not need. */
#pragma once

/* From now on this process can read its standard input, write its standard output and have memory
 * that is not executable, and do nothing else: any other system call ends it. -1 when the kernel
 * cannot filter. */
int confine_self(void);
